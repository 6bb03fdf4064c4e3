//! A stretch of time in which calls are checked.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::finding::{Finding, Findings};
use super::side_effects;

/// What a [`Debug`](super::Debug) looks for. Memory that is no operand's is looked at in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checks {
    /// Writes before and behind operands and results.
    pub bounds: bool,
    /// Operands that are changed without being a result's memory.
    pub operands: bool,
    /// Elements of results that are not written.
    pub unwritten: bool,
    /// Results that differ between two runs on the same input.
    pub repeat: bool,
    /// Results that differ with operands at addresses that are a multiple of 16, and not of 64.
    pub alignment: bool,
    /// Results that differ with memory of their own, where XLA gave them an operand's.
    pub aliasing: bool,
    /// NaN and infinities that come of finite operands.
    pub finite: bool,
    /// Puts what the processor refuses to touch right before and behind operands and results: a
    /// handler that leaves them ends the process there. Not on Windows.
    pub guard_pages: bool,
}

impl Default for Checks {
    /// All but guard pages.
    fn default() -> Self {
        Checks {
            bounds: true,
            operands: true,
            unwritten: true,
            repeat: true,
            alignment: true,
            aliasing: true,
            finite: true,
            guard_pages: false,
        }
    }
}

impl Checks {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Checks {
            bounds: false,
            operands: false,
            unwritten: false,
            repeat: false,
            alignment: false,
            aliasing: false,
            finite: false,
            guard_pages: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) checks: Checks,
    pub(super) once: HashSet<String>,
    pub(super) found: Mutex<Findings>,
    pub(super) running: AtomicUsize,
    pub(super) checked: AtomicU64,
}

/// A call that is being checked.
pub(super) struct Entered(Arc<Session>);

impl Session {
    pub(super) fn enter(self: &Arc<Self>) -> Entered {
        self.running.fetch_add(1, Ordering::AcqRel);
        Entered(Arc::clone(self))
    }

    /// Whether handlers of that target are to be run once.
    pub(super) fn runs_once(&self, target: &str) -> bool {
        self.once.contains(target) || side_effects::has(target)
    }

    pub(super) fn report(&self, finding: Finding) {
        self.lock().add(finding);
    }

    pub(super) fn count(&self) {
        self.checked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, Findings> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::ops::Deref for Entered {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
