//! XLA's futures, imitated.

use core::ptr;
use std::sync::{Condvar, Mutex, PoisonError};

use super::host::take_failure;
use super::Failure;
use crate::sys;

#[derive(Default)]
struct Future {
    outcome: Mutex<Option<Result<(), Failure>>>,
    complete: Condvar,
}

impl Future {
    /// # Safety
    /// `raw` is from `create`, and not complete.
    unsafe fn set(raw: *mut sys::XLA_FFI_Future, outcome: Result<(), Failure>) {
        // SAFETY: by contract; it is never freed.
        let future = unsafe { &*raw.cast_const().cast::<Future>() };
        let mut place = future
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        assert!(place.is_none(), "the call is complete already");
        *place = Some(outcome);
        future.complete.notify_all();
    }
}

/// Waits until a call is complete, as XLA does before it uses results.
///
/// # Safety
/// `raw` is from [`create`]; nobody waits for it again.
pub(super) unsafe fn wait(raw: *mut sys::XLA_FFI_Future) -> Result<(), Failure> {
    // SAFETY: by contract, leaked by `create`. It stays leaked: who completed it may still be about
    // to give its lock back.
    let future = unsafe { &*raw.cast_const().cast::<Future>() };
    let mut outcome = future
        .outcome
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(outcome) = outcome.take() {
            return outcome;
        }
        outcome = future
            .complete
            .wait(outcome)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

pub(super) unsafe extern "C" fn create(
    args: *mut sys::XLA_FFI_Future_Create_Args,
) -> *mut sys::XLA_FFI_Error {
    let future: &'static mut Future = Box::leak(Box::default());
    // SAFETY: the API's contract: a filled struct.
    unsafe { (*args).future = ptr::from_mut(future).cast() };
    ptr::null_mut()
}

pub(super) unsafe extern "C" fn set_available(
    args: *mut sys::XLA_FFI_Future_SetAvailable_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the API's contract: a filled struct, a future that is not complete.
    unsafe { Future::set((*args).future, Ok(())) };
    ptr::null_mut()
}

pub(super) unsafe extern "C" fn set_error(
    args: *mut sys::XLA_FFI_Future_SetError_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `set_available`; the error is given away.
    unsafe {
        let failure = take_failure((*args).error).expect("an error");
        Future::set((*args).future, Err(failure));
    }
    ptr::null_mut()
}
