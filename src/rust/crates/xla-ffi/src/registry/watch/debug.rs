//! A stretch of time in which calls are checked, as its user has it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::finding::Finding;
use super::open::Open;
use super::session::{Checks, Session};

/// Checks every call on the CPU for as long as it lives. A handler is called several times with
/// operands and results in memory of the check's own, what it completes later is waited for, and its
/// results are those of the first run.
///
/// Handlers with side effects run once: those without results, and those
/// [marked](super::super::Registry::has_side_effect) or named as such.
#[derive(Debug)]
#[must_use = "it checks for as long as it lives"]
pub struct Debug(Arc<Session>);

impl Debug {
    /// Begins. Handlers of the targets `once` run once.
    pub fn start(checks: Checks, once: impl IntoIterator<Item = String>) -> Self {
        let session = Arc::new(Session {
            checks,
            once: once.into_iter().collect(),
            found: Mutex::default(),
            running: AtomicUsize::new(0),
            checked: AtomicU64::new(0),
        });
        Open::change(|open| open.debugs.push(Arc::clone(&session)));
        Debug(session)
    }

    /// Ends: calls from now on are not checked. Those that [run](Self::running) still are.
    pub fn stop(&self) {
        Open::change(|open| open.debugs.retain(|one| !Arc::ptr_eq(one, &self.0)));
    }

    /// How many calls are being checked now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.0.running.load(Ordering::Acquire)
    }

    /// How many calls have been checked.
    #[must_use]
    pub fn checked(&self) -> u64 {
        self.0.checked.load(Ordering::Relaxed)
    }

    /// What was found so far, in order of first appearance.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.0.lock().all().to_vec()
    }

    /// As [`findings`](Self::findings), which are then forgotten.
    #[must_use]
    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.0.lock()).into_all()
    }
}

impl Drop for Debug {
    fn drop(&mut self) {
        self.stop();
    }
}
