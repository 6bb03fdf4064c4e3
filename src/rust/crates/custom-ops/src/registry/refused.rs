//! Targets whose handlers are for the CPU: a call on CUDA is told so. XLA compiles a program only where all names in it
//! have a handler, also those of calls that never run, as in what JAX exports for several platforms.

use std::sync::Arc;

use xla_ffi::raw::{enter, OpEntry};
use xla_ffi::registry::{registered_with, Handlers, Registry};
use xla_ffi::{sys, Code, Error, HandlerFn, Result};

use super::table::CUDA;

/// Lets calls on CUDA find a target that has a handler on the CPU alone.
///
/// # Errors
/// As [`Registry::register_handlers`].
pub fn refuse_target_on_cuda(target: &str, owner: Option<&str>) -> Result<()> {
    if Registry::global().lookup(target, CUDA).is_some() {
        return Ok(());
    }
    let execute: HandlerFn = refuse;
    let handlers = Handlers::from(execute).with_data(Arc::new(target.to_owned()));
    // SAFETY: a function of this library, which stays loaded; it expects to be registered with a `String`.
    unsafe { Registry::global().register_handlers(target, CUDA, handlers, owner) }.map(drop)
}

/// The execute stage of such a target.
///
/// # Safety
/// `frame` is XLA's; the function is registered with a `String`.
unsafe extern "C" fn refuse(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    const ENTRY: OpEntry = OpEntry {
        target: name,
        traits: 0,
        host_memory: false,
        stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
        run: |_| {
            let text = "it is for the CPU: there is no handler for CUDA";
            Err(Error::new(Code::Unimplemented, text))
        },
    };
    // SAFETY: by contract; no operand is looked at.
    unsafe { enter(frame, &ENTRY) }
}

fn name() -> &'static str {
    // SAFETY: null, or what `refuse` was registered with, which the registry keeps for as long as this call runs.
    let name = unsafe { registered_with().cast::<String>().as_ref() };
    name.map_or("custom call", String::as_str)
}
