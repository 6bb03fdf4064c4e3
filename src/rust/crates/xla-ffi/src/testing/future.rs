//! XLA's futures, imitated.

use core::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::failure::Failure;
use super::raw_error::take_failure;
use crate::sys;

#[derive(Default)]
struct Future {
    outcome: Mutex<Option<Result<(), Failure>>>,
    complete: Condvar,
}

impl Future {
    /// # Safety
    /// `raw` is from `create`, and was not completed before.
    unsafe fn set(raw: *mut sys::XLA_FFI_Future, outcome: Result<(), Failure>) {
        // SAFETY: by contract, and of the two counts this is the one of who completes it.
        let future = unsafe { Arc::from_raw(raw.cast_const().cast::<Future>()) };
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
    // SAFETY: by contract, and of the two counts this is the one of who waits.
    let future = unsafe { Arc::from_raw(raw.cast_const().cast::<Future>()) };
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
    // One count for who completes it, one for who waits.
    let future = Arc::into_raw(Arc::new(Future::default()));
    // SAFETY: just made, a count more; the API's contract: a filled struct.
    unsafe {
        Arc::increment_strong_count(future);
        (*args).future = future.cast_mut().cast();
    }
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
