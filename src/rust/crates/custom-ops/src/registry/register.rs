//! Registration of ops with XLA.

use std::sync::Arc;

use xla_ffi::registry::{Handlers, Registered, Registry};
use xla_ffi::{sys, HandlerFn, Result};

use super::entry;
use super::table::{keep, registered, CUDA, PLATFORM};
use crate::op::CustomOp;

/// Makes the op the one that its target's calls mean, unless they name another one.
///
/// # Errors
/// As [`Registry::register_handlers`].
pub fn register(op: &Arc<CustomOp>, owner: Option<&str>) -> Result<Registered> {
    let handlers = Handlers::from(sys::XLA_FFI_Handler_Bundle {
        instantiate: Some(entry::instantiate),
        prepare: None,
        initialize: None,
        execute: Some(entry::execute),
    });
    let handlers = handlers.with_data(Arc::clone(op));
    // One without a kernel takes the place of one that had one, not of a handler that is no custom op.
    let before = Registry::global().data::<CustomOp>(op.name(), CUDA);
    let on_cuda = match op.kernels.is_some() || before.is_some() {
        true => Some(register_on_cuda(op, owner)?),
        false => None,
    };
    // Before the name, whose first call may come at once.
    keep(op);
    // SAFETY: functions of this library, which stays loaded; they expect to be registered with an
    // `CustomOp`.
    let registered =
        unsafe { Registry::global().register_handlers(op.name(), PLATFORM, handlers, owner) };
    if let (Err(_), Some(on_cuda)) = (&registered, on_cuda) {
        let owner = on_cuda.replaced.and_then(|replaced| replaced.owner);
        match before {
            Some(before) => drop(register_on_cuda(&before, owner.as_deref())?),
            None => drop(Registry::global().withdraw(op.name(), CUDA)),
        }
    }
    registered
}

/// Lets calls on CUDA find an op that has no kernel, so that they are told what is missing.
///
/// # Errors
/// As [`Registry::register_handlers`].
pub fn refuse_on_cuda(target: &str, owner: Option<&str>) -> Result<()> {
    match registered(target) {
        Some(op) if Registry::global().lookup(target, CUDA).is_none() => {
            register_on_cuda(&op, owner).map(drop)
        }
        _ => Ok(()),
    }
}

/// Lets calls on CUDA find the op: without a kernel they are told so.
fn register_on_cuda(op: &Arc<CustomOp>, owner: Option<&str>) -> Result<Registered> {
    let execute: HandlerFn = entry::execute_on_cuda;
    let handlers = Handlers::from(execute).with_data(Arc::clone(op));
    // SAFETY: as above.
    unsafe { Registry::global().register_handlers(op.name(), CUDA, handlers, owner) }
}
