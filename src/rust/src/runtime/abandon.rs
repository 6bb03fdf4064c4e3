//! Runs that R may give up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// What tells that R has given up the run with that id, where it is known, else the work that this thread does: XLA may
/// call handlers on any thread.
pub fn abandoned(run_id: Option<i64>) -> Option<Arc<AtomicBool>> {
    let of_run = run_id.and_then(|id| known().get(&id).cloned());
    of_run.or_else(|| OF_RUN.with_borrow(Clone::clone))
}

/// Runs that XLA knows by an id that they were given.
static KNOWN: Mutex<BTreeMap<i64, Arc<AtomicBool>>> = Mutex::new(BTreeMap::new());

fn known() -> MutexGuard<'static, BTreeMap<i64, Arc<AtomicBool>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An id for the run that this thread does the work of, while this lives. It is negative: ids that XLA gives by itself,
/// and those of runs over several devices, are not.
pub struct Id(i32);

impl Id {
    /// None where R cannot give up what this thread does.
    pub fn new() -> Option<Self> {
        static LAST: AtomicI32 = AtomicI32::new(0);
        let flag = OF_RUN.with_borrow(Clone::clone)?;
        let id = LAST.fetch_sub(1, Ordering::Relaxed).wrapping_sub(1) | i32::MIN;
        known().insert(id.into(), flag);
        Some(Id(id))
    }

    /// As XLA takes it.
    pub fn number(&self) -> i32 {
        self.0
    }
}

impl Drop for Id {
    fn drop(&mut self) {
        known().remove(&self.0.into());
    }
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
