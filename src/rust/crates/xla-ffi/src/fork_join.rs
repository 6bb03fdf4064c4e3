//! A caller and its helpers on other threads, who work on what lies on the caller's stack.

use core::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// What a panic threw.
pub(crate) type Payload = Box<dyn Any + Send>;

/// What the caller and its helpers share. A helper that XLA starts late finds it closed and leaves
/// at once, so the caller need not wait for helpers that never got a thread: on a busy pool it does
/// all the work itself.
pub(crate) struct ForkJoin {
    // Borrowed from the caller's stack; used only between `enter` and `leave`.
    work: *const (dyn Fn() + Sync),
    state: Mutex<State>,
    all_left: Condvar,
}

struct State {
    closed: bool,
    inside: usize,
    panic: Option<Payload>,
}

// SAFETY: `work` is `Sync`, and the protocol of `enter` keeps it alive while any thread uses it.
unsafe impl Send for ForkJoin {}
// SAFETY: as above.
unsafe impl Sync for ForkJoin {}

impl ForkJoin {
    /// # Safety
    /// `work` is alive until [`close_and_wait`](Self::close_and_wait) has returned.
    pub(crate) unsafe fn new(work: *const (dyn Fn() + Sync)) -> Self {
        ForkJoin {
            work,
            state: Mutex::new(State {
                closed: false,
                inside: 0,
                panic: None,
            }),
            all_left: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work, unless it is too late; what a panic threw that is not the first.
    pub(crate) fn help(&self) -> Option<Payload> {
        {
            let mut state = self.state();
            if state.closed {
                return None;
            }
            state.inside += 1;
        }
        // SAFETY: it was open, and `close_and_wait`, which the caller runs before `work`
        // goes, waits for us.
        let work = unsafe { &*self.work };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let mut state = self.state();
        // The first panic goes on in the caller; of the others the panic hook's message is left.
        let surplus = match outcome {
            Err(payload) if state.panic.is_none() => {
                state.panic = Some(payload);
                None
            }
            outcome => outcome.err(),
        };
        state.inside -= 1;
        if state.inside == 0 {
            self.all_left.notify_all();
        }
        surplus
    }

    /// Lets nobody in any more and waits for those who are in; what the first panic threw.
    pub(crate) fn close_and_wait(&self) -> Option<Payload> {
        let mut state = self.state();
        state.closed = true;
        while state.inside > 0 {
            state = self
                .all_left
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.panic.take()
    }
}
