//! jaxlib with the handlers that this crate's programs call.

use super::calls;
use crate::base::error::Result;
use crate::cluster::guard;
use crate::python::compat::{self, Jaxlib};
use crate::python::gil::Gil;
use crate::python::object::{capsule, Object};
use std::ffi::{c_void, CStr};
use xla_ffi::sys::XLA_FFI_Handler;

/// The name by which jaxlib knows a capsule with a handler.
const CAPSULE: &CStr = c"xla._CUSTOM_CALL_TARGET";

/// jaxlib, started where it has not been.
pub(crate) fn jaxlib() -> Result<&'static Jaxlib> {
    compat::jaxlib(register_own)
}

/// A handler as jaxlib takes it.
pub(super) fn handler_capsule(gil: &Gil, handler: XLA_FFI_Handler) -> Result<&'static Object> {
    // SAFETY: the capsule only carries the address; nothing is to be freed.
    let capsule = unsafe { capsule(gil, handler as *mut c_void, CAPSULE, None)? };
    // jaxlib may look into the capsule later: it stays for as long as the process.
    Ok(Box::leak(Box::new(capsule)))
}

/// Registers what programs call that this crate has changed.
fn register_own(gil: &Gil, jax: &Jaxlib) -> Result<()> {
    let arguments = [
        &gil.string(calls::ORDERED)?,
        handler_capsule(gil, calls::ordered)?,
        &gil.string(calls::MISSING)?,
        handler_capsule(gil, calls::missing)?,
        &gil.string(guard::GUARDED)?,
        handler_capsule(gil, calls::guarded)?,
    ];
    gil.call(&jax.register_own, arguments).map(drop)
}
