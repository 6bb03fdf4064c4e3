//! A call on its way through a trampoline: counted, in a table of services that counts and names
//! what the handler does, behind its barrier.

use core::mem::offset_of;
use core::ptr;

use super::barrier::enter;
use super::current::within;
use super::services;
use super::slot::Running;
use super::state::Registry;
use super::watch;
use crate::error::Error;
use crate::report::report;
use crate::sys;
use crate::version::{answer_metadata, asked_metadata};

/// # Safety
/// As a [`HandlerFn`](crate::HandlerFn); `frame` is not null.
#[inline]
pub(super) unsafe fn call(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the head of every frame is complete.
    unsafe {
        if !(*frame).extension_start.is_null() && asked_metadata(frame).is_some() {
            return metadata(running, frame);
        }
        let stage = if (*frame).struct_size > offset_of!(sys::XLA_FFI_CallFrame, args) {
            (*frame).stage
        } else {
            sys::XLA_FFI_ExecutionStage_EXECUTE
        };
        let function = running.installed().function(stage as usize);
        if function.is_null() {
            return no_stage(running, frame, stage);
        }
        let api = (*frame).api;
        (*frame).api = services::table(api);
        let error = within(running, || match watch::watched() {
            false => enter(running.installed(), function, frame),
            true => watch::call(running, function, frame, stage),
        });
        (*frame).api = api;
        error
    }
}

/// Answers with what the handler itself answers: version and traits are those of its execute
/// function, the type of its state that of its instantiate function.
///
/// # Safety
/// `frame` is XLA's, with a metadata query.
#[cold]
unsafe fn metadata(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let installed = running.installed();
    let stages = [
        sys::XLA_FFI_ExecutionStage_INSTANTIATE,
        sys::XLA_FFI_ExecutionStage_EXECUTE,
    ];
    for stage in stages {
        let function = installed.function(stage as usize);
        if function.is_null() {
            continue;
        }
        // SAFETY: by contract, and the slot's function.
        let error = unsafe { enter(installed, function, frame) };
        if !error.is_null() {
            return error;
        }
    }
    // SAFETY: by contract.
    unsafe { Registry::global().note_info(installed.slot(), frame) };
    ptr::null_mut()
}

/// # Safety
/// `frame` is XLA's.
#[cold]
unsafe fn no_stage(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
    stage: sys::XLA_FFI_ExecutionStage,
) -> *mut sys::XLA_FFI_Error {
    let name = Registry::global().name(running.installed().slot());
    let what = Error::invalid_argument(format!("{name}: there is no handler for stage {stage}"));
    // SAFETY: by contract.
    unsafe { report(frame, &what) }
}

/// What a call gets that finds no handler. Programs with the name may still be compiled.
///
/// # Safety
/// As a [`HandlerFn`](crate::HandlerFn); `frame` is not null.
#[cold]
pub(super) unsafe fn no_handler(
    frame: *mut sys::XLA_FFI_CallFrame,
    slot: usize,
) -> *mut sys::XLA_FFI_Error {
    let registry = Registry::global();
    // SAFETY: by contract.
    unsafe {
        if answer_metadata(frame, registry.last_traits(slot)) {
            return ptr::null_mut();
        }
        report(frame, &registry.unregistered(slot))
    }
}
