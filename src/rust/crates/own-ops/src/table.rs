//! All ops of this process, by digest and by target.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use xla_ffi::registry::{Handlers, Registered, Registry};
use xla_ffi::{sys, Code, Error, HandlerFn, Result};

use crate::entry;
use crate::op::OwnOp;

static TABLE: RwLock<Option<HashMap<u64, Weak<OwnOp>>>> = RwLock::new(None);

/// The platform that all own ops are for.
const PLATFORM: &str = "host";

/// The one for those with kernels.
const CUDA: &str = "cuda";

/// Makes the op the one that its target's calls mean, unless they name another one.
///
/// # Errors
/// As [`Registry::register_handlers`].
pub fn register(op: &Arc<OwnOp>, owner: Option<&str>) -> Result<Registered> {
    let handlers = Handlers::from(sys::XLA_FFI_Handler_Bundle {
        instantiate: Some(entry::instantiate),
        prepare: None,
        initialize: None,
        execute: Some(entry::execute),
    });
    let handlers = handlers.with_data(Arc::clone(op));
    // SAFETY: functions of this library, which stays loaded; they expect to be registered with an
    // `OwnOp`.
    let registered =
        unsafe { Registry::global().register_handlers(op.name, PLATFORM, handlers, owner) }?;
    // One without a kernel takes the place of an op that had one, and of no other handler.
    let has_op = Registry::global().data::<OwnOp>(op.name, CUDA).is_some();
    if op.kernels.is_some() || has_op {
        register_on_cuda(op, owner)?;
    }
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let table = table.get_or_insert_with(HashMap::new);
    table.insert(op.digest, Arc::downgrade(op));
    Ok(registered)
}

/// Lets calls on CUDA find the op: without a kernel they are told so.
fn register_on_cuda(op: &Arc<OwnOp>, owner: Option<&str>) -> Result<()> {
    let execute: HandlerFn = entry::execute_on_cuda;
    let handlers = Handlers::from(execute).with_data(Arc::clone(op));
    // SAFETY: as above.
    let registered =
        unsafe { Registry::global().register_handlers(op.name, CUDA, handlers, owner) };
    registered.map(|_| ())
}

/// The op of that target, if it is one of the user's own.
#[must_use]
pub fn registered(target: &str) -> Option<Arc<OwnOp>> {
    Registry::global().data::<OwnOp>(target, PLATFORM)
}

/// Lets calls on CUDA find an op that has no kernel, so that they are told what is missing.
///
/// # Errors
/// As [`Registry::register_handlers`].
pub fn refuse_on_cuda(target: &str, owner: Option<&str>) -> Result<()> {
    match registered(target) {
        Some(op) if Registry::global().lookup(target, CUDA).is_none() => {
            register_on_cuda(&op, owner)
        }
        _ => Ok(()),
    }
}

/// Whether calls of that target on that platform do more than say that the op is for another one.
#[must_use]
pub fn runs(target: &str, platform: &str) -> bool {
    let op = Registry::global().data::<OwnOp>(target, platform);
    op.map_or(true, |op| match platform {
        CUDA => op.kernels.is_some(),
        _ => !op.instances.is_empty(),
    })
}

/// The op of that digest.
pub(crate) fn find(digest: u64, name: &str) -> Result<Arc<OwnOp>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let found = table.as_ref().and_then(|table| table.get(&digest));
    found.and_then(Weak::upgrade).ok_or_else(|| {
        let text = format!(
            "the program was written for another definition of `{name}`, which is not there any more"
        );
        Error::new(Code::FailedPrecondition, text)
    })
}

impl Drop for OwnOp {
    fn drop(&mut self) {
        let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = table.as_mut() else { return };
        // Another op of the same digest may have taken the place.
        if table
            .get(&self.digest)
            .is_some_and(|op| op.strong_count() == 0)
        {
            table.remove(&self.digest);
        }
    }
}
