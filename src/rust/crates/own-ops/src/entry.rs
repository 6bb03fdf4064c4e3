//! The functions that XLA is given for every own op: which op a call means, and what is kept for it.

use std::sync::Arc;
use xla_ffi::raw::{enter, enter_instantiate, OpEntry};
use xla_ffi::registry::registered_with;
use xla_ffi::{sys, CallFrame, Error, Result};

use crate::attributes::{Decoded, OP};
use crate::op::OwnOp;
use crate::state::{Program, States};
use crate::{call, table};

/// The execute stage.
///
/// # Safety
/// `frame` is XLA's; the function is registered with an `OwnOp`.
pub(crate) unsafe extern "C" fn execute(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract; operands are in this processor's memory, as it is registered for no other
    // platform.
    unsafe {
        enter(
            frame,
            &entry(sys::XLA_FFI_ExecutionStage_EXECUTE, true, run),
        )
    }
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

fn entry(
    stage: sys::XLA_FFI_ExecutionStage,
    host_memory: bool,
    run: fn(&mut CallFrame<'_>) -> Result<()>,
) -> OpEntry {
    // SAFETY: the registry keeps it for as long as this call runs.
    let current = unsafe { current().as_ref() };
    OpEntry {
        target: current.map_or("own op", OwnOp::name),
        traits: 0,
        host_memory,
        stage,
        run,
    }
}

/// What the target's name means now; null outside of the registry's calls.
fn current() -> *const OwnOp {
    registered_with().cast()
}

fn run(frame: &mut CallFrame<'_>) -> Result<()> {
    // SAFETY: as in `entry`.
    let current = unsafe { current().as_ref() };
    match (current, digest(frame)?) {
        (Some(op), None) => call::run(op, frame, false),
        (Some(op), Some(digest)) if op.digest == digest => call::run(op, frame, true),
        (current, digest) => call::run(&*another(current, digest, frame)?, frame, true),
    }
}

/// The op of a call that does not mean the current one.
#[cold]
fn another(
    current: Option<&OwnOp>,
    digest: Option<u64>,
    frame: &CallFrame<'_>,
) -> Result<Arc<OwnOp>> {
    let missing = || Error::internal("it was called without its registration");
    let digest = digest.ok_or_else(missing)?;
    if let Ok(program) = frame.context().state::<Program>() {
        if program.op.digest == digest {
            return Ok(Arc::clone(&program.op));
        }
    }
    table::find(digest, current.ok_or_else(missing)?.name)
}

fn digest(frame: &CallFrame<'_>) -> Result<Option<u64>> {
    let digest = frame.attrs().get_optional::<i64>(OP)?;
    Ok(digest.map(|digest| digest as u64))
}

fn keep(frame: &mut CallFrame<'_>) -> Result<()> {
    // SAFETY: as in `entry`.
    let current = unsafe { current().as_ref() }
        .ok_or_else(|| Error::internal("it was called without its registration"))?;
    let digest = digest(frame)?;
    let op = table::find(digest.unwrap_or(current.digest), current.name)?;
    let states = States::default();
    let mut attributes = Decoded::default();
    attributes.read(&op, &frame.attrs(), digest.is_some())?;
    if op.instances.len() == 1 {
        // Of several the call's element types will tell.
        states.get(&op, 0, Vec::new(), &attributes.all, &attributes.numbers)?;
    }
    frame.context().set_state(Program { states, op })
}
