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

/// The functions that complete a future, by what they are in XLA's table and the error that they give.
macro_rules! completing {
    ($($name:ident: $function:ident($args:ident), |$given:ident| $error:expr;)*) => {$(
        pub(super) unsafe extern "C" fn $name<const TABLE: usize>(
            $given: *mut sys::$args,
        ) -> *mut sys::XLA_FFI_Error {
            let Some(tell) = api_fn!(xla::<TABLE>(), $function) else {
                return ptr::null_mut();
            };
            // SAFETY: the API's contract: a filled struct.
            unsafe {
                if watch::future_complete((*$given).future, $error) {
                    return ptr::null_mut();
                }
                let _running = complete((*$given).future);
                tell($given)
            }
        }
    )*};
}

completing! {
    set_available: XLA_FFI_Future_SetAvailable(XLA_FFI_Future_SetAvailable_Args), |args| ptr::null_mut();
    set_error: XLA_FFI_Future_SetError(XLA_FFI_Future_SetError_Args), |args| (*args).error;
}
