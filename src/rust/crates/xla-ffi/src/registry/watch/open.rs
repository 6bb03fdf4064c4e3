//! Who watches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::counters::Counters;
use super::session::Session;

/// How many watch.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

pub(super) static OPEN: RwLock<Open> = RwLock::new(Open {
    debugs: Vec::new(),
    profiles: Vec::new(),
});

pub(super) struct Open {
    pub(super) debugs: Vec<Arc<Session>>,
    pub(super) profiles: Vec<Arc<Counters>>,
}

impl Open {
    pub(super) fn change(change: impl FnOnce(&mut Open)) {
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut open);
        // Under the lock, so that the sum is that of the last change.
        WATCHERS.store(open.debugs.len() + open.profiles.len(), Ordering::Relaxed);
    }
}

/// Whether anybody watches. A call that begins while that changes may miss the change.
#[inline]
pub(in crate::registry) fn watched() -> bool {
    WATCHERS.load(Ordering::Relaxed) != 0
}
