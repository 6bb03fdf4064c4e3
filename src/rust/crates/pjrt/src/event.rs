//! Events: something that a plugin will have finished.

use crate::api::{call, Api};
use crate::client::Client;
use crate::error::Result;
use pjrt_api::*;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// For so long a thread that waits looks again and again: to be woken takes about as long.
const SOON: Duration = Duration::from_micros(200);

/// Becomes ready once, well or with an error.
pub struct Event {
    client: Client,
    raw: *mut PJRT_Event,
    /// Set by the plugin's callback; there from the first wait with a time limit on.
    signal: OnceLock<Arc<Signal>>,
}

// SAFETY: the API allows calls on an event from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcome: Option<Result<()>>,
    /// To be unparked.
    waiting: Vec<Thread>,
}

/// What the plugin's callback owns.
struct Callback {
    api: Api,
    signal: Arc<Signal>,
}

unsafe extern "C" fn on_ready(error: *mut PJRT_Error, user_arg: *mut c_void) {
    // SAFETY: this is the box that `signal` below gave away; the callback is called once.
    let callback = unsafe { Box::from_raw(user_arg.cast::<Callback>()) };
    let outcome = callback.api.check("PJRT_Event_OnReady", error);
    let waiting = {
        let mut state = callback.signal.lock();
        state.outcome = Some(outcome);
        std::mem::take(&mut state.waiting)
    };
    waiting.iter().for_each(Thread::unpark);
}

impl Signal {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Event {
    /// Takes over an event of `client`. `None` for NULL: nothing to wait for.
    pub(crate) fn take(client: &Client, raw: *mut PJRT_Event) -> Option<Self> {
        (!raw.is_null()).then(|| Self {
            client: client.clone(),
            raw,
            signal: OnceLock::new(),
        })
    }

    /// Whether waiting would return at once. Says nothing about success.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn is_ready(&self) -> Result<bool> {
        let mut args = PJRT_Event_IsReady_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive.
        unsafe { call!(self.client.api(), PJRT_Event_IsReady(args))? };
        Ok(args.is_ready)
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    /// The error of what was waited for.
    pub fn wait(&self) -> Result<()> {
        let mut args = PJRT_Event_Await_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive.
        unsafe { call!(self.client.api(), PJRT_Event_Await(args)) }
    }

    /// Waits until it is ready, but no longer than `limit`; false if that was too short. Made for
    /// loops that look at other things (such as Ctrl-C) between waits.
    ///
    /// # Errors
    /// The error of what was waited for.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        self.wait_unless(limit, || false)
    }

    /// As [`Event::wait_timeout`], or until `stop` is true: to be looked at again when somebody
    /// unparks this thread.
    ///
    /// # Errors
    /// The error of what was waited for.
    pub fn wait_unless(&self, limit: Duration, stop: impl Fn() -> bool) -> Result<bool> {
        let start = Instant::now();
        let deadline = start + limit;
        // To be called back may take the plugin a thread: longer than short programs run.
        let soon = start + limit.min(SOON);
        loop {
            if self.is_ready()? {
                return self.wait().map(|()| true);
            }
            if stop() || Instant::now() >= soon {
                break;
            }
            thread::yield_now();
        }
        let signal = self.signal()?;
        let this = thread::current();
        loop {
            {
                let mut state = signal.lock();
                if let Some(outcome) = &state.outcome {
                    return outcome.clone().map(|()| true);
                }
                if state.waiting.iter().all(|other| other.id() != this.id()) {
                    state.waiting.push(this.clone());
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop() {
                return Ok(false);
            }
            thread::park_timeout(left);
        }
    }

    /// The signal that the plugin's callback sets, registered at the first call.
    fn signal(&self) -> Result<&Arc<Signal>> {
        if let Some(signal) = self.signal.get() {
            return Ok(signal);
        }
        let signal = Arc::new(Signal::default());
        let api = self.client.api();
        let callback = Box::into_raw(Box::new(Callback {
            api,
            signal: signal.clone(),
        }));
        let mut args = PJRT_Event_OnReady_Args::new();
        args.event = self.raw;
        args.callback = Some(on_ready);
        args.user_arg = callback.cast();
        // SAFETY: the event is alive, and the callback owns what it is given.
        if let Err(e) = unsafe { call!(api, PJRT_Event_OnReady(args)) } {
            // SAFETY: with an error nothing was registered, so the box is still ours.
            drop(unsafe { Box::from_raw(callback) });
            return Err(e);
        }
        // If another thread was faster, both callbacks are called and each frees its own.
        Ok(self.signal.get_or_init(|| signal))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        destroy(self.client.api(), self.raw);
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event(ready: {:?})", self.is_ready())
    }
}

/// Frees an event; an error at that has nobody to go to.
pub(crate) fn destroy(api: Api, event: *mut PJRT_Event) {
    let mut args = PJRT_Event_Destroy_Args::new();
    args.event = event;
    // SAFETY: callers own the event and give it up here.
    let _ = unsafe { call!(api, PJRT_Event_Destroy(args)) };
}

/// What is kept alive until an event is ready.
struct Kept<T> {
    api: Api,
    event: *mut PJRT_Event,
    _value: T,
}

unsafe extern "C" fn let_go<T>(error: *mut PJRT_Error, user_arg: *mut c_void) {
    // SAFETY: this is the box that `keep_until` gave away; the callback is called once.
    let kept = unsafe { Box::from_raw(user_arg.cast::<Kept<T>>()) };
    // An error reaches the user by the buffer itself; here it is only to be freed.
    let _ = kept.api.check("PJRT_Event_OnReady", error);
    destroy(kept.api, kept.event);
}

/// Takes over `event` and keeps `value` until it is ready, from whatever thread.
pub(crate) fn keep_until<T: Send + 'static>(
    api: Api,
    event: *mut PJRT_Event,
    value: T,
) -> Result<()> {
    if event.is_null() {
        return Ok(());
    }
    let kept = Box::into_raw(Box::new(Kept {
        api,
        event,
        _value: value,
    }));
    let mut args = PJRT_Event_OnReady_Args::new();
    args.event = event;
    args.callback = Some(let_go::<T>);
    args.user_arg = kept.cast();
    // SAFETY: the event is ours, and the callback owns what it is given.
    unsafe { call!(api, PJRT_Event_OnReady(args)) }.inspect_err(|_| {
        // Nobody will tell when the plugin has finished with the value: it has to be leaked,
        // and only the event can be freed.
        destroy(api, event);
    })
}
