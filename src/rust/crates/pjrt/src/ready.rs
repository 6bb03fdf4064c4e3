//! Waiting for the contents of buffers.

use crate::api::call;
use crate::buffer::{deleted, Buffer};
use crate::error::Result;
use crate::event::Event;
use pjrt_api::*;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Buffer {
    /// An event that is ready when the contents are there; `None` where they are already.
    ///
    /// # Errors
    /// [`Kind::Deleted`](crate::Kind::Deleted) for a buffer that is gone; else what the plugin returns.
    pub fn event(&self) -> Result<Option<Event>> {
        if self.is_deleted()? {
            return Err(deleted("reading"));
        }
        if self.ready.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut args = PJRT_Buffer_ReadyEvent_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api(), PJRT_Buffer_ReadyEvent(args))? };
        Ok(Event::take(&self.client, args.event))
    }

    /// Whether the contents are there (or have failed to come).
    ///
    /// # Errors
    /// As [`Buffer::event`].
    pub fn ready(&self) -> Result<bool> {
        self.event()?.map_or(Ok(true), |e| e.is_ready())
    }

    /// Waits until the contents are there.
    ///
    /// # Errors
    /// The error of the execution or transfer that makes them; else as [`Buffer::event`].
    pub fn wait(&self) -> Result<()> {
        if let Some(event) = self.event()? {
            event.wait()?;
            self.ready.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Waits until the contents are there and can be read, but no longer than `limit`; false if
    /// that was too short. A limit of zero only looks. An execution that is being launched with
    /// the buffer may be donated its memory: until it is known, reading has to wait.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        self.wait_unless(limit, || false)
    }

    /// As [`Buffer::wait_timeout`], or until `stop` is true: to be looked at again when somebody
    /// unparks this thread.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn wait_unless(&self, limit: Duration, stop: impl Fn() -> bool) -> Result<bool> {
        Ok(self.wait_event(limit, &stop)? && self.readable_within(limit, stop))
    }

    fn wait_event(&self, limit: Duration, stop: impl Fn() -> bool) -> Result<bool> {
        let Some(event) = self.event()? else {
            return Ok(true);
        };
        let done = match limit.is_zero() {
            true => event.is_ready()? && event.wait().map(|()| true)?,
            false => event.wait_unless(limit, stop)?,
        };
        if done {
            self.ready.store(true, Ordering::Release);
        }
        Ok(done)
    }

    /// Whether the contents are there, and a launch under way keeps them from being read.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn is_taken(&self) -> Result<bool> {
        Ok(self.wait_event(Duration::ZERO, || false)?
            && !self.readable_within(Duration::ZERO, || false))
    }

    /// Whether nobody may take the memory away, as a launch under way might.
    fn readable_within(&self, limit: Duration, stop: impl Fn() -> bool) -> bool {
        const TURN: Duration = Duration::from_millis(1);
        let deadline = Instant::now() + limit;
        while let Err(std::sync::TryLockError::WouldBlock) = self.lock.try_read() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop() {
                return false;
            }
            std::thread::sleep(left.min(TURN));
        }
        true
    }
}
