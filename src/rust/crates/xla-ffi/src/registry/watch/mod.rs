//! Watching calls: while somebody does, the execute stage of every handler is checked or timed.
//!
//! Handlers run on XLA's threads, so what is watched is the process. Of several [`Debug`]s the one
//! opened last gets the findings; every open [`Profile`] counts every call.

mod bytes;
mod check;
mod compare;
mod counters;
mod debug;
mod deferred;
mod fill;
mod finding;
mod frame;
mod open;
mod outcome;
mod outside;
#[cfg(unix)]
mod pages;
mod plan;
mod profile;
mod results;
mod run;
mod scratch;
mod scratch_source;
mod session;
mod side_effects;
mod zone;

use std::sync::PoisonError;
use std::time::Instant;

use super::barrier::enter;
use super::slot::Running;
use crate::sys;
use open::OPEN;

pub use debug::Debug;
pub use deferred::checking;
pub(super) use deferred::{future_complete, future_create, schedule};
pub use finding::{Finding, Kind};
pub(super) use open::watched;
pub use profile::{Profile, Row};
pub use scratch::CheckedScratch;
pub use session::Checks;

/// A handler's call, checked and timed for whoever watches.
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
