//! Errors on their way to XLA.

use core::mem::size_of;
use core::ptr;
use std::ffi::CString;

use crate::context::api_fn;
use crate::error::Error;
use crate::sys;

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
