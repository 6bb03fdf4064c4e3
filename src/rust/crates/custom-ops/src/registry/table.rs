//! All ops of this process, by digest and by target.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use xla_ffi::registry::Registry;
use xla_ffi::{Code, Error, Result};

use crate::op::CustomOp;

type Table = HashMap<u64, Vec<Weak<CustomOp>>>;

/// Equal definitions have one digest.
static TABLE: RwLock<Option<Table>> = RwLock::new(None);

/// The platform that all custom ops are for.
pub(super) const PLATFORM: &str = "host";

/// The one for those with kernels.
pub(super) const CUDA: &str = "cuda";

/// Lets programs find the op by its digest as long as it lives.
pub(super) fn keep(op: &Arc<CustomOp>) {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let equal = table.get_or_insert_with(HashMap::new);
    let equal = equal.entry(op.digest).or_default();
    let this = Arc::downgrade(op);
    equal.retain(|other| !other.ptr_eq(&this));
    equal.push(this);
}

/// The op of that target, if it is one of the user's own.
#[must_use]
pub fn registered(target: &str) -> Option<Arc<CustomOp>> {
    Registry::global().data::<CustomOp>(target, PLATFORM)
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
    let op = Registry::global().data::<CustomOp>(target, platform);
    op.map_or(true, |op| match platform {
        CUDA => op.kernels.is_some(),
        _ => !op.instances.is_empty(),
    })
}

/// The op of that digest.
pub(crate) fn find(digest: u64, name: &str) -> Result<Arc<CustomOp>> {
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

impl Drop for CustomOp {
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
