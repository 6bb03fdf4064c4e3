//! Signals: what happens once, and who waits for it.

use crate::base::attend::attendant;
use crate::base::error::{Error, Result};
use crate::base::signals::leave_signals;
use crate::python::gil::blocking;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Why something failed; `None` where it did not.
pub(crate) type Outcome = Option<Error>;
pub(crate) type Callback = Box<dyn FnOnce(Outcome) + Send>;

enum State {
    Pending(Vec<Callback>),
    Done(Outcome),
}

/// Something that happens once.
pub(crate) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

impl Signal {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Pending(Vec::new())),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it happen; says whether this was the first time.
    pub fn set(&self, outcome: Outcome) -> bool {
        let mut state = self.lock();
        let State::Pending(callbacks) = &mut *state else {
            return false;
        };
        let callbacks = std::mem::take(callbacks);
        *state = State::Done(outcome.clone());
        drop(state);
        self.changed.notify_all();
        for callback in callbacks {
            callback(outcome.clone());
        }
        true
    }

    pub fn is_set(&self) -> bool {
        matches!(&*self.lock(), State::Done(_))
    }

    pub fn poll(&self) -> Option<Outcome> {
        match &*self.lock() {
            State::Pending(_) => None,
            State::Done(outcome) => Some(outcome.clone()),
        }
    }

    /// Waits without Python's lock; where the thread has other work, it does that meanwhile.
    pub fn wait(&self) -> Outcome {
        let Some(attendant) = attendant() else {
            return blocking(|| self.wait_idle());
        };
        let thread = std::thread::current();
        self.on_ready(Box::new(move |_outcome| thread.unpark()));
        let mut outcome = self.poll();
        (attendant.attend)(&mut |limit| {
            if outcome.is_none() {
                blocking(|| std::thread::park_timeout(limit));
                outcome = self.poll();
            }
            outcome.is_some()
        });
        outcome.unwrap_or_else(|| blocking(|| self.wait_idle()))
    }

    fn wait_idle(&self) -> Outcome {
        let mut state = self.lock();
        loop {
            match &*state {
                State::Done(outcome) => return outcome.clone(),
                State::Pending(_) => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    pub fn on_ready(&self, callback: Callback) {
        let mut state = self.lock();
        match &mut *state {
            State::Pending(callbacks) => callbacks.push(callback),
            State::Done(outcome) => {
                let outcome = outcome.clone();
                drop(state);
                callback(outcome);
            }
        }
    }
}

/// Runs `body` on a thread of its own.
pub(crate) fn in_background(name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(|| {
            leave_signals();
            body();
        })
        .map(drop)
        .map_err(|e| Error::exhausted(format!("cannot start a thread: {e}")))
}
