//! All ops of this process, by digest and by target.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use xla_ffi::registry::{Handlers, Registered, Registry};
use xla_ffi::{sys, Code, Error, HandlerFn, Result};

use crate::entry;
use crate::op::OwnOp;

type Table = HashMap<u64, Vec<Weak<OwnOp>>>;

/// Equal definitions have one digest.
static TABLE: RwLock<Option<Table>> = RwLock::new(None);

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
    // One without a kernel takes the place of one that had one, not of a handler that is no own op.
    let before = Registry::global().data::<OwnOp>(op.name, CUDA);
    let on_cuda = match op.kernels.is_some() || before.is_some() {
        true => Some(register_on_cuda(op, owner)?),
        false => None,
    };
    // Before the name, whose first call may come at once.
    keep(op);
    // SAFETY: functions of this library, which stays loaded; they expect to be registered with an
    // `OwnOp`.
    let registered =
        unsafe { Registry::global().register_handlers(op.name, PLATFORM, handlers, owner) };
    if let (Err(_), Some(on_cuda)) = (&registered, on_cuda) {
        let owner = on_cuda.replaced.and_then(|replaced| replaced.owner);
        match before {
            Some(before) => drop(register_on_cuda(&before, owner.as_deref())?),
            None => drop(Registry::global().withdraw(op.name, CUDA)),
        }
    }
    registered
}

/// Lets programs find the op by its digest as long as it lives.
fn keep(op: &Arc<OwnOp>) {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let equal = table.get_or_insert_with(HashMap::new);
    let equal = equal.entry(op.digest).or_default();
    let this = Arc::downgrade(op);
    equal.retain(|other| !other.ptr_eq(&this));
    equal.push(this);
}

/// Lets calls on CUDA find the op: without a kernel they are told so.
fn register_on_cuda(op: &Arc<OwnOp>, owner: Option<&str>) -> Result<Registered> {
    let execute: HandlerFn = entry::execute_on_cuda;
    let handlers = Handlers::from(execute).with_data(Arc::clone(op));
    // SAFETY: as above.
    unsafe { Registry::global().register_handlers(op.name, CUDA, handlers, owner) }
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
            register_on_cuda(&op, owner).map(drop)
        }
        _ => Ok(()),
    }
}

/// 64 bits of what an op is made of, the same in all processes that make it alike: of the op of that digest, where one is
/// given, else of the one that the target means now.
#[must_use]
pub fn common(target: &str, digest: Option<i64>) -> Option<u64> {
    let op = match digest {
        Some(digest) => find(digest as u64, target).ok(),
        None => registered(target),
    };
    op.map(|op| op.common)
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
    let equal = table.as_ref().and_then(|table| table.get(&digest));
    let mut latest_first = equal.into_iter().flatten().rev();
    latest_first.find_map(Weak::upgrade).ok_or_else(|| {
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
        let Some(equal) = table.get_mut(&self.digest) else {
            return;
        };
        equal.retain(|op| op.strong_count() > 0);
        if equal.is_empty() {
            table.remove(&self.digest);
        }
    }
}
