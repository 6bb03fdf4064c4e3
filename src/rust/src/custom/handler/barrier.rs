//! What stands between handlers of other people and us; see `src/barrier.cc`.

use std::ffi::{c_char, c_void};

use xla_ffi::registry::Barrier;
use xla_ffi::{sys, HandlerFn};

extern "C" {
    fn xlaffi_call_handler(
        handler: HandlerFn,
        frame: *mut sys::XLA_FFI_CallFrame,
        error: *mut *mut sys::XLA_FFI_Error,
        thrown: *mut c_char,
        size: usize,
    ) -> bool;
    fn xlaffi_run_task(
        task: sys::XLA_FFI_Task,
        data: *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool;
}

pub static BARRIER: Barrier = Barrier {
    call: xlaffi_call_handler,
    run: xlaffi_run_task,
};
