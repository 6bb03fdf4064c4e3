//! A stretch of time in which calls are checked.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::finding::{Finding, Findings};
use super::{side_effects, Open};

/// What a [`Debug`] looks for. Memory that is no operand's is looked at in every case.
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

#[derive(Debug)]
pub(super) struct Session {
    pub(super) checks: Checks,
    once: HashSet<String>,
    found: Mutex<Findings>,
    running: AtomicUsize,
    checked: AtomicU64,
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Findings> {
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
