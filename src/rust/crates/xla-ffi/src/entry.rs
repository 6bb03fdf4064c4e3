//! The one way into a handler: metadata query, stage, decoding, panic barrier, errors.

use core::ptr;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::error::{Error, Result};
use crate::float_mode::GradualUnderflow;
use crate::frame::CallFrame;
use crate::op::{Dispatch, Op, Platform};
use crate::panics::panic_error;
use crate::report::report;
use crate::sys;
use crate::version::{answer_metadata, FRAME_SIZE};

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
            match decoded.completion.take() {
                None => outcome,
                // SAFETY: XLA's frame; there is a completion only where there can be.
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
