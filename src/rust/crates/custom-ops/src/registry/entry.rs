//! The functions that XLA is given for every custom op: which op a call means, and what is kept for it.

use core::ptr;

use xla_ffi::raw::{enter, enter_instantiate, OpEntry};
use xla_ffi::registry::registered_with;
use xla_ffi::{sys, CallFrame, Error, Result};

use super::run;
use super::state::Program;
use super::table;
use crate::call::attributes::OP;
use crate::op::CustomOp;

/// The execute stage.
///
/// # Safety
/// `frame` is XLA's; the function is registered with an `CustomOp`.
pub(crate) unsafe extern "C" fn execute(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract; operands are in this processor's memory, as it is registered for its
    // platform only.
    unsafe {
        enter(
            frame,
            &entry(sys::XLA_FFI_ExecutionStage_EXECUTE, true, execute_call),
        )
    }
}

/// The execute stage on CUDA, where programs keep nothing.
///
/// # Safety
/// As [`execute`].
pub(crate) unsafe extern "C" fn execute_on_cuda(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let stage = sys::XLA_FFI_ExecutionStage_EXECUTE;
    // SAFETY: by contract; operands are in the device's memory.
    unsafe { enter(frame, &entry(stage, false, execute_call_on_cuda)) }
}

/// The instantiate stage: the program keeps the op that it means, with its state.
///
/// # Safety
/// As [`execute`].
pub(crate) unsafe extern "C" fn instantiate(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract.
    unsafe {
        let entry = entry(sys::XLA_FFI_ExecutionStage_INSTANTIATE, false, keep);
        enter_instantiate::<Program>(frame, &entry)
    }
}

const fn entry(
    stage: sys::XLA_FFI_ExecutionStage,
    host_memory: bool,
    run: fn(&mut CallFrame<'_>) -> Result<()>,
) -> OpEntry {
    OpEntry {
        target: || current().map_or("own op", CustomOp::name),
        traits: 0,
        host_memory,
        stage,
        run,
    }
}

/// What the target's name means now; `None` outside of the registry's calls.
fn current<'a>() -> Option<&'a CustomOp> {
    // SAFETY: null, or what the functions of this file were registered with, which the registry
    // keeps for as long as this call runs.
    unsafe { registered_with().cast::<CustomOp>().as_ref() }
}

fn execute_call(frame: &mut CallFrame<'_>) -> Result<()> {
    if let Some(program) = Program::of(&frame.context()) {
        if program.is_meant(|| current().map_or(ptr::null(), ptr::from_ref)) {
            return run::run_kept(program, frame);
        }
    }
    run_meant(frame, run::run)
}

fn execute_call_on_cuda(frame: &mut CallFrame<'_>) -> Result<()> {
    run_meant(frame, run::run_on_cuda)
}

/// Runs the op that the call means: the one of its digest, or, unmarked, the one of the target's name now.
fn run_meant(
    frame: &mut CallFrame<'_>,
    run: impl Fn(&CustomOp, &mut CallFrame<'_>, bool) -> Result<()>,
) -> Result<()> {
    let op = current().ok_or_else(unregistered)?;
    match digest(frame)? {
        None => run(op, frame, false),
        Some(digest) if op.digest == digest => run(op, frame, true),
        Some(digest) => run(&*table::find(digest, op.name())?, frame, true),
    }
}

/// The program keeps the op of a call, and its attributes.
fn keep(frame: &mut CallFrame<'_>) -> Result<()> {
    let current = current().ok_or_else(unregistered)?;
    let digest = digest(frame)?;
    let op = table::find(digest.unwrap_or(current.digest), current.name())?;
    let program = Program::of_call(op, &frame.attrs(), digest.is_some())?;
    frame.context().share_state(program)
}

fn digest(frame: &CallFrame<'_>) -> Result<Option<u64>> {
    let digest = frame.attrs().get_optional::<i64>(OP)?;
    Ok(digest.map(|digest| digest as u64))
}

#[cold]
fn unregistered() -> Error {
    Error::internal("it was called without its registration")
}
