//! Devices that are lost: after some errors of CUDA nothing works on its devices in this process any more, and XLA ends the
//! process where it takes for granted that something does. So the plugin is asked for no more work then.

use crate::error::{Code, Error, Kind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// CUDA's sticky errors, which "leave the process in an inconsistent state", by the manual of CUDA's driver (`CUresult`).
const STICKY: [&str; 10] = [
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_TENSOR_MEMORY_LEAK",
];

/// Functions that have a device do something.
const WORK: [&str; 8] = [
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_ToHostBuffer",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_Compile",
    "PJRT_Client_Create",
    "PJRT_Device_MemoryStats",
    "PJRT_Executable_DeserializeAndLoad",
    "PJRT_LoadedExecutable_Execute",
];

/// Whether [`LOST`] has any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Addresses of plugins' tables, and the first such error of each.
static LOST: Mutex<Vec<(usize, &'static str)>> = Mutex::new(Vec::new());

/// Looks at an error of the plugin with that table.
pub(crate) fn note(table: usize, message: &str) {
    let Some(&name) = STICKY.iter().find(|&&name| message.contains(name)) else {
        return;
    };
    let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    if lost.iter().all(|(other, _)| *other != table) {
        lost.push((table, name));
    }
    ANY.store(true, Ordering::Release);
}

/// An error where the function would have a lost device do something.
#[inline]
pub(crate) fn check(table: usize, function: &str) -> Result<()> {
    if ANY.load(Ordering::Acquire) {
        refuse(table, function)
    } else {
        Ok(())
    }
}

#[cold]
fn refuse(table: usize, function: &str) -> Result<()> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    match lost.iter().find(|(other, _)| *other == table) {
        Some((_, name)) if WORK.contains(&function) => Err(Error::new(
            Kind::Plugin,
            Code::FAILED_PRECONDITION,
            format!(
                "the devices of this plugin are lost: CUDA answered {name} before, after which it does nothing more in this \
                 process; a new one can use them"
            ),
        )),
        _ => Ok(()),
    }
}
