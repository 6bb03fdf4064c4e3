//! Joining a mesh, which may be given up before it has come to an end.

use super::wire::Message;
use crate::base::error::{Error, Result};
use std::cell::RefCell;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    static CURRENT: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// Ends joining others, from another thread.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Mutex<Progress>>);

#[derive(Debug, Default)]
struct Progress {
    is_over: bool,
    is_given_up: bool,
    /// The connection to the coordinator.
    stream: Option<TcpStream>,
    /// The number of this process, once the others count on it.
    process: Option<u32>,
}

impl CancelToken {
    /// Does what joins: clients that `work` makes on this thread belong to it.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<CancelToken>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _restore = Restore(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// That of this thread; one that nobody gives up, where there is none.
    pub(super) fn current() -> Self {
        CURRENT.with_borrow(Clone::clone).unwrap_or_default()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it soon, and tells processes that count on this one. Nothing where it has ended.
    pub fn give_up(&self) {
        let mut progress = self.progress();
        if progress.is_over || std::mem::replace(&mut progress.is_given_up, true) {
            return;
        }
        if let Some(stream) = progress.stream.take() {
            if let Some(process) = progress.process {
                // The end of the connection tells it too.
                let why = "it was interrupted while it joined".to_owned();
                let _ = Message::Gone(process, why).send(&stream);
            }
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.progress().is_given_up
    }

    /// Refuses to go on with what was given up.
    pub(super) fn check(&self) -> Result<()> {
        refusal(&self.progress())
    }

    /// From now on its end ends this connection.
    pub(super) fn connected(&self, stream: &TcpStream) -> Result<()> {
        let mut progress = self.progress();
        refusal(&progress)?;
        let stream = stream.try_clone();
        progress.stream = Some(stream.map_err(|e| Error::unavailable(e.to_string()))?);
        Ok(())
    }

    /// From now on the others count on this process.
    pub(super) fn started(&self, process: u32) {
        self.progress().process = Some(process);
    }

    /// It has ended well: it cannot be given up any more.
    pub(super) fn end(&self) -> Result<()> {
        let mut progress = self.progress();
        refusal(&progress)?;
        progress.is_over = true;
        progress.stream = None;
        Ok(())
    }
}

fn refusal(progress: &Progress) -> Result<()> {
    match progress.is_given_up {
        true => Err(Error::unavailable(
            "joining the other processes was interrupted",
        )),
        false => Ok(()),
    }
}
