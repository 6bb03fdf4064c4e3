//! XLA's errors, imitated.

use core::ffi::CStr;
use core::mem::size_of;
use std::ffi::CString;

use super::failure::Failure;
use crate::error::Code;
use crate::sys;

struct Error {
    code: Code,
    message: CString,
}

pub(super) fn error(code: Code, message: &CStr) -> *mut sys::XLA_FFI_Error {
    Box::into_raw(Box::new(Error {
        code,
        message: message.to_owned(),
    }))
    .cast()
}

/// Takes an error that a handler returned.
pub(super) fn take_failure(raw: *mut sys::XLA_FFI_Error) -> Option<Failure> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: handlers have no errors but those of `error_create`, and give them away.
    let error = unsafe { Box::from_raw(raw.cast::<Error>()) };
    Some(Failure {
        code: error.code,
        message: error.message.to_string_lossy().into_owned(),
    })
}

pub(super) unsafe extern "C" fn error_create(
    args: *mut sys::XLA_FFI_Error_Create_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the API's contract: a filled struct, and a message that ends in NUL.
    unsafe {
        error(
            Code::from_raw((*args).errc),
            CStr::from_ptr((*args).message),
        )
    }
}

/// What the function takes from FFI 0.4 on.
#[repr(C)]
struct Details {
    message: sys::XLA_FFI_Error_GetMessage_Args,
    errc: sys::XLA_FFI_Error_Code,
}

pub(super) unsafe extern "C" fn error_message(args: *mut sys::XLA_FFI_Error_GetMessage_Args) {
    // SAFETY: the API's contract: a filled struct, as long as it says, and a live error.
    unsafe {
        let error = &*(*args).error.cast_const().cast::<Error>();
        (*args).message = error.message.as_ptr();
        if (*args).struct_size >= size_of::<Details>() {
            (*args.cast::<Details>()).errc = error.code as sys::XLA_FFI_Error_Code;
        }
    }
}

pub(super) unsafe extern "C" fn error_destroy(args: *mut sys::XLA_FFI_Error_Destroy_Args) {
    // SAFETY: the API's contract: a filled struct and an error that nobody uses any more.
    drop(unsafe { Box::from_raw((*args).error.cast::<Error>()) });
}
