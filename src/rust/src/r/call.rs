//! Calls of functions of R's base package.

use std::ffi::{c_void, CStr};

use extendr_ffi::{
    R_BaseEnv, R_NilValue, Rf_cons, Rf_install, Rf_lcons, Rf_protect, Rf_unprotect, SEXP,
};

extern "C-unwind" {
    fn Rf_eval(call: *mut c_void, environment: *mut c_void) -> *mut c_void;
}

/// Calls a function of base R, for what it does.
///
/// # Safety
/// Within [`protect`](crate::r::unwind::protect), with arguments that are protected.
pub unsafe fn call_base(function: &CStr, arguments: &[SEXP]) {
    // SAFETY: the caller's promise; what is allocated is protected.
    unsafe {
        let mut list = R_NilValue;
        for argument in arguments.iter().rev() {
            list = Rf_protect(Rf_cons(*argument, list));
        }
        let call = Rf_protect(Rf_lcons(Rf_install(function.as_ptr()), list));
        Rf_eval(call.cast(), R_BaseEnv.cast());
        Rf_unprotect(arguments.len() as i32 + 1);
    }
}
