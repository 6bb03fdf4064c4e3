//! Runs that R may give up.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::serve::in_use;

thread_local! {
    static OF_RUN: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs the work of a run that R may give up: its callbacks are then not served any more.
pub fn of_run<T>(abandoned: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<AtomicBool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OF_RUN.set(self.0.take());
        }
    }
    let _restore = Restore(OF_RUN.replace(Some(abandoned.clone())));
    work()
}

/// What tells that R has given up the work that this thread does.
pub fn abandoned() -> Option<Arc<AtomicBool>> {
    OF_RUN.with_borrow(Clone::clone)
}

/// Gives a run up when it is dropped.
#[derive(Default)]
pub struct Abandon(Arc<AtomicBool>);

impl Abandon {
    /// What tells the threads of the run.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    /// Gives it up.
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
        if in_use() {
            main_thread::wake_askers();
        }
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        self.now();
    }
}
