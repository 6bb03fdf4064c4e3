//! Calls that a handler completes after it has returned, by XLA's futures: they count as running
//! until then.

use core::ptr;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::current::current;
use super::slot::Running;
use super::tables::xla;
use super::watch;
use crate::context::api_fn;
use crate::sys;

/// The futures that are not complete yet, by their addresses.
fn pending() -> MutexGuard<'static, Option<HashMap<usize, Running>>> {
    static PENDING: Mutex<Option<HashMap<usize, Running>>> = Mutex::new(None);
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) unsafe extern "C" fn create<const TABLE: usize>(
    args: *mut sys::XLA_FFI_Future_Create_Args,
) -> *mut sys::XLA_FFI_Error {
    let Some(create) = api_fn!(xla::<TABLE>(), XLA_FFI_Future_Create) else {
        return ptr::null_mut();
    };
    // SAFETY: the API's contract: a filled struct, into which XLA writes the future.
    unsafe {
        if watch::checking() {
            (*args).future = watch::future_create();
            return ptr::null_mut();
        }
        let error = create(args);
        if error.is_null() {
            // On a thread of the handler's own nobody knows whose it is.
            if let Some(installed) = current() {
                let running = installed.count_in();
                let future = (*args).future as usize;
                pending()
                    .get_or_insert_with(HashMap::new)
                    .insert(future, running);
            }
        }
        error
    }
}

/// Forgets a future that is about to be complete: after that XLA may give its address to another.
fn complete(future: *mut sys::XLA_FFI_Future) -> Option<Running> {
    pending().as_mut()?.remove(&(future as usize))
}

pub(super) unsafe extern "C" fn set_available<const TABLE: usize>(
    args: *mut sys::XLA_FFI_Future_SetAvailable_Args,
) -> *mut sys::XLA_FFI_Error {
    let Some(tell) = api_fn!(xla::<TABLE>(), XLA_FFI_Future_SetAvailable) else {
        return ptr::null_mut();
    };
    // SAFETY: the API's contract: a filled struct.
    unsafe {
        if watch::future_complete((*args).future, ptr::null_mut()) {
            return ptr::null_mut();
        }
        let _running = complete((*args).future);
        tell(args)
    }
}

pub(super) unsafe extern "C" fn set_error<const TABLE: usize>(
    args: *mut sys::XLA_FFI_Future_SetError_Args,
) -> *mut sys::XLA_FFI_Error {
    let Some(tell) = api_fn!(xla::<TABLE>(), XLA_FFI_Future_SetError) else {
        return ptr::null_mut();
    };
    // SAFETY: the API's contract: a filled struct.
    unsafe {
        if watch::future_complete((*args).future, (*args).error) {
            return ptr::null_mut();
        }
        let _running = complete((*args).future);
        tell(args)
    }
}
