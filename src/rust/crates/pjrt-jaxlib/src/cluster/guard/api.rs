//! What XLA's table of functions is asked for.

use std::mem::size_of;
use std::ptr::null_mut;
use xla_ffi::sys::{self, XLA_FFI_Api, XLA_FFI_Error};

/// Reads a function of XLA's table, which may end before it.
macro_rules! function {
    ($api:expr, $name:ident) => {{
        let api: *const xla_ffi::sys::XLA_FFI_Api = $api;
        let end = std::mem::offset_of!(xla_ffi::sys::XLA_FFI_Api, $name)
            + std::mem::size_of::<Option<xla_ffi::sys::$name>>();
        // SAFETY: a table of XLA's, or a copy; its first field says how far it reaches.
        unsafe {
            match !api.is_null() && std::ptr::addr_of!((*api).struct_size).read() >= end {
                true => std::ptr::addr_of!((*api).$name).read(),
                false => None,
            }
        }
    }};
}

/// Asks XLA for a number of the call.
macro_rules! number {
    ($frame:expr, $name:ident, $args:ident { $field:ident }) => {{
        let frame: &xla_ffi::sys::XLA_FFI_CallFrame = $frame;
        $crate::cluster::guard::api::function!(frame.api, $name).and_then(|ask| {
            let mut args = xla_ffi::sys::$args {
                struct_size: std::mem::size_of::<xla_ffi::sys::$args>(),
                extension_start: std::ptr::null_mut(),
                ctx: frame.ctx,
                $field: 0,
            };
            // SAFETY: XLA's function with the struct that it takes, and the context of the call.
            let error = unsafe { ask(&mut args) };
            if error.is_null() {
                return Some(i64::from(args.$field));
            }
            // SAFETY: an error that XLA gave to this call.
            unsafe { $crate::cluster::guard::api::destroy(frame.api, error) };
            None
        })
    }};
}

pub(super) use {function, number};

/// # Safety
/// `error` is of that table's XLA, and nobody's else.
pub(super) unsafe fn destroy(api: *const XLA_FFI_Api, error: *mut XLA_FFI_Error) {
    if let Some(destroy) = function!(api, XLA_FFI_Error_Destroy) {
        let mut args = sys::XLA_FFI_Error_Destroy_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_Destroy_Args>(),
            extension_start: null_mut(),
            error,
        };
        // SAFETY: by this function's contract.
        unsafe { destroy(&mut args) };
    }
}
