//! Watching calls: while somebody does, the execute stage of every handler is checked or timed.
//!
//! Handlers run on XLA's threads, so what is watched is the process. Of several [`Debug`]s the one
//! opened last gets the findings; every open [`Profile`] counts every call.

mod bytes;
mod check;
mod compare;
mod fill;
mod finding;
mod frame;
mod later;
mod outside;
#[cfg(unix)]
mod pages;
mod profile;
mod results;
mod run;
mod scratch;
mod session;
mod side_effects;
mod zone;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use super::call::enter;
use super::slot::Running;
use crate::sys;

pub use finding::{Finding, Kind};
pub use later::checking;
pub(super) use later::{future_complete, future_create, schedule};
pub use profile::{Profile, Row};
pub use scratch::CheckedScratch;
pub use session::{Checks, Debug};

/// How many watch.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

static OPEN: RwLock<Open> = RwLock::new(Open {
    debugs: Vec::new(),
    profiles: Vec::new(),
});

struct Open {
    debugs: Vec<Arc<session::Session>>,
    profiles: Vec<Arc<profile::Counters>>,
}

impl Open {
    fn change(change: impl FnOnce(&mut Open)) {
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut open);
        // Under the lock, so that the sum is that of the last change.
        WATCHERS.store(open.debugs.len() + open.profiles.len(), Ordering::Relaxed);
    }
}

/// Whether anybody watches. A call that begins while that changes may miss the change.
#[inline]
pub(super) fn watched() -> bool {
    WATCHERS.load(Ordering::Relaxed) != 0
}

/// A handler's call, under the eyes of whoever watches.
///
/// # Safety
/// `function` is one of what runs; the rest as a [`HandlerFn`](crate::HandlerFn).
#[cold]
pub(super) unsafe fn call(
    running: &Running,
    function: *mut (),
    frame: *mut sys::XLA_FFI_CallFrame,
    stage: sys::XLA_FFI_ExecutionStage,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract.
    let plain = || unsafe { enter(running.installed(), function, frame) };
    // What a handler under check calls by way of the registry is a part of it.
    if stage != sys::XLA_FFI_ExecutionStage_EXECUTE || checking() {
        return plain();
    }
    let (debug, profiles) = {
        let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        // Counted in before the session can end.
        (
            open.debugs.last().map(session::Session::enter),
            open.profiles.clone(),
        )
    };
    let slot = running.installed().slot();
    let bytes = match profiles.is_empty() {
        true => Default::default(),
        // SAFETY: XLA's frame.
        false => unsafe { frame::bytes(frame) },
    };
    let start = Instant::now();
    let error = match &debug {
        // SAFETY: by contract.
        Some(debug) => unsafe { check::call(debug, slot, frame, &plain) },
        None => plain(),
    };
    let time = start.elapsed();
    for profile in &profiles {
        profile.count(slot, time, bytes, !error.is_null());
    }
    error
}
