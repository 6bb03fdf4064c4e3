//! The one way into a handler: metadata query, stage, decoding, panic barrier, errors.

use core::ffi::c_int;
use core::mem::{offset_of, size_of};
use core::ptr;
use std::any::Any;
use std::ffi::CString;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::context::api_fn;
use crate::error::{Code, Error, Result};
use crate::float_mode::GradualUnderflow;
use crate::frame::CallFrame;
use crate::op::{Dispatch, Op, Platform};
use crate::sys;

/// What is registered with XLA.
pub type HandlerFn = sys::XLA_FFI_Handler;

/// The FFI version that handlers report: the oldest whose frames and services they need. XLA
/// refuses handlers newer than itself, and each service is checked for when it is asked for.
pub const REPORTED_VERSION: (c_int, c_int) = (sys::XLA_FFI_API_MAJOR, 1);

/// The handler of op `O` on platform `P`, ready for XLA: `handler::<Lu, Host>`.
///
/// # Safety
/// `frame` is XLA's: a call of this op, or a metadata query.
pub unsafe extern "C" fn handler<O, P>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error
where
    O: Op,
    P: Platform,
    O::Dtypes: Dispatch<O, P>,
{
    let op = OpEntry {
        target: || O::TARGET,
        traits: O::TRAITS.bits(),
        host_memory: P::HOST_MEMORY,
        stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
        run: <O::Dtypes as Dispatch<O, P>>::dispatch,
    };
    // SAFETY: by contract; `host_memory` is true only where the `Platform` contract says so.
    unsafe { enter(frame, &op) }
}

/// What [`enter`] must know of an op.
pub struct OpEntry {
    /// Its name in errors, which nobody looks for otherwise.
    pub target: fn() -> &'static str,
    /// What it answers to XLA's question.
    pub traits: sys::XLA_FFI_Handler_Traits,
    /// As in [`CallFrame::from_raw`].
    pub host_memory: bool,
    /// In which it runs; in others there is nothing to do.
    pub stage: sys::XLA_FFI_ExecutionStage,
    /// Its body.
    pub run: fn(&mut CallFrame<'_>) -> Result<()>,
}

/// The way into a handler: see the head of this file.
///
/// # Safety
/// As [`handler`]; `op.host_memory` as in [`CallFrame::from_raw`].
pub unsafe fn enter(frame: *mut sys::XLA_FFI_CallFrame, op: &OpEntry) -> *mut sys::XLA_FFI_Error {
    if frame.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: XLA's frame; its first fields are in every version.
    let asked = unsafe { answer_metadata(frame, op.traits) };
    if asked {
        return ptr::null_mut();
    }
    // SAFETY: as above; the size is looked at before any other field.
    let outcome = unsafe { (*frame).struct_size >= FRAME_SIZE }
        .then_some(())
        .ok_or_else(|| {
            // SAFETY: as above.
            let size = unsafe { (*frame).struct_size };
            Error::invalid_argument(format!(
                "expected a call frame of {FRAME_SIZE} bytes or more, got {size}"
            ))
        })
        .and_then(|()| {
            // SAFETY: the frame reaches that far.
            if unsafe { (*frame).stage } != op.stage {
                return Ok(());
            }
            // SAFETY: XLA's frame of a call that lasts until we return, decoded this once.
            let mut decoded = unsafe { CallFrame::from_raw(frame, op.host_memory) };
            let outcome = {
                let _mode = op.host_memory.then(GradualUnderflow::new);
                catch_unwind(AssertUnwindSafe(|| (op.run)(&mut decoded)))
                    .unwrap_or_else(|payload| Err(panic_error(payload)))
            };
            match decoded.later.take() {
                None => outcome,
                // SAFETY: XLA's frame; a call is `later` only where it can be.
                Some(call) => unsafe {
                    call.settle(outcome, frame, &decoded.context(), (op.target)())
                },
            }
        });
    match outcome {
        Ok(()) => ptr::null_mut(),
        // SAFETY: XLA's frame.
        Err(error) => unsafe { report(frame, &error.with_op((op.target)())) },
    }
}

/// Frames are complete up to `attrs` in every version.
pub(crate) const FRAME_SIZE: usize = offset_of!(sys::XLA_FFI_CallFrame, future);

/// Answers XLA's question for version and traits, if the frame asks it.
///
/// # Safety
/// `frame` is XLA's.
pub unsafe fn answer_metadata(
    frame: *mut sys::XLA_FFI_CallFrame,
    traits: sys::XLA_FFI_Handler_Traits,
) -> bool {
    // SAFETY: by contract.
    unsafe {
        match asked_metadata(frame) {
            Some(metadata) => {
                fill_metadata(metadata, traits);
                true
            }
            None => false,
        }
    }
}

/// The struct to fill where the frame asks for version and traits.
///
/// # Safety
/// `frame` is XLA's.
#[inline]
pub(crate) unsafe fn asked_metadata(
    frame: *const sys::XLA_FFI_CallFrame,
) -> Option<*mut sys::XLA_FFI_Metadata> {
    // SAFETY: the head of every frame and extension is complete; XLA's list ends in null.
    unsafe {
        let mut extension = (*frame).extension_start;
        while !extension.is_null() {
            if (*extension).type_ == sys::XLA_FFI_Extension_Metadata
                && (*extension).struct_size >= size_of::<sys::XLA_FFI_Metadata_Extension>()
            {
                return Some((*extension.cast::<sys::XLA_FFI_Metadata_Extension>()).metadata);
            }
            extension = (*extension).next;
        }
    }
    None
}

/// # Safety
/// `metadata` is null or XLA's struct to fill, complete up to what its `struct_size` says.
unsafe fn fill_metadata(metadata: *mut sys::XLA_FFI_Metadata, traits: sys::XLA_FFI_Handler_Traits) {
    const UP_TO_TRAITS: usize =
        offset_of!(sys::XLA_FFI_Metadata, traits) + size_of::<sys::XLA_FFI_Handler_Traits>();
    // SAFETY: by contract. `state_type_id` keeps XLA's "none".
    unsafe {
        if metadata.is_null() || (*metadata).struct_size < UP_TO_TRAITS {
            return;
        }
        (*metadata).api_version = sys::XLA_FFI_Api_Version {
            struct_size: size_of::<sys::XLA_FFI_Api_Version>(),
            extension_start: ptr::null_mut(),
            major_version: REPORTED_VERSION.0,
            minor_version: REPORTED_VERSION.1,
        };
        (*metadata).traits = traits;
    }
}

#[cold]
fn panic_error(payload: Box<dyn Any + Send>) -> Error {
    let text = if let Some(text) = payload.downcast_ref::<&'static str>() {
        format!("panicked: {text}")
    } else if let Some(text) = payload.downcast_ref::<String>() {
        format!("panicked: {text}")
    } else {
        "panicked: (no message)".to_owned()
    };
    discard(payload);
    Error::new(Code::Internal, text)
}

/// Drops what a panic threw, which may panic in its turn.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        let is_text = next.is::<&'static str>() || next.is::<String>();
        if !is_text {
            // Once is enough: what it threw while it was dropped is given up.
            core::mem::forget(next);
        }
    }
}

/// Makes XLA's error of ours.
///
/// # Safety
/// `frame` is XLA's, complete up to `api`.
#[cold]
pub unsafe fn report(frame: *mut sys::XLA_FFI_CallFrame, error: &Error) -> *mut sys::XLA_FFI_Error {
    // SAFETY: `api` is one of the first fields of every frame.
    unsafe { xla_error((*frame).api, error) }
}

/// # Safety
/// `api` is null or XLA's table.
#[cold]
pub(crate) unsafe fn xla_error(
    api: *const sys::XLA_FFI_Api,
    error: &Error,
) -> *mut sys::XLA_FFI_Error {
    let text = error.to_string();
    let Some(create) = api_fn!(api, XLA_FFI_Error_Create) else {
        // To return would tell XLA that the results are there.
        eprintln!("xla-ffi: cannot report to XLA, which has no XLA_FFI_Error_Create: {text}");
        std::process::abort();
    };
    let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
    let mut args = sys::XLA_FFI_Error_Create_Args {
        struct_size: size_of::<sys::XLA_FFI_Error_Create_Args>(),
        extension_start: ptr::null_mut(),
        message: text.as_ptr(),
        errc: error.code() as sys::XLA_FFI_Error_Code,
    };
    // SAFETY: XLA's function with the struct it takes; it copies the text.
    unsafe { create(&mut args) }
}
