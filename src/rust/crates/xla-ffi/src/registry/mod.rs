//! Handlers by target and platform, behind functions whose addresses never change.
//!
//! XLA keeps the pointer that it was given under a name for ever, and refuses a second one. So XLA
//! is given a [trampoline](Registered::trampoline), which runs whatever handler is current: one can
//! be replaced, or withdrawn before its library is unloaded, and a call that comes too late gets an
//! error instead of unmapped memory.
//!
//! What XLA has asked once it keeps, too: a handler that takes the place of another must have the
//! same traits and stages, and a version that XLA accepts.

mod by_slot;
mod call;
mod current;
mod futures;
mod handlers;
mod names;
mod register;
mod services;
mod slot;
mod trampoline;
mod watch;
mod withdrawn;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::entry::HandlerFn;
use crate::query::{asked, Answer};
use crate::sys;

pub use current::registered_with;
pub use handlers::{Barrier, Handlers};
use names::Names;
pub use trampoline::CAPACITY;
use trampoline::TRAMPOLINES;
pub use watch::{checking, CheckedScratch, Checks, Debug, Finding, Kind, Profile, Row};
pub use withdrawn::Withdrawn;

/// XLA's name for a platform: `"host"` for cpu, `"cuda"` for gpu, anything else in lower case.
#[must_use]
pub fn canonical_platform(platform: &str) -> String {
    let platform = platform.to_ascii_lowercase();
    match platform.as_str() {
        "cpu" => "host".to_owned(),
        "gpu" => "cuda".to_owned(),
        _ => platform,
    }
}

/// What a function answers to XLA's metadata query, asked [behind a barrier](Barrier).
///
/// # Safety
/// It is a handler, or may do whatever it does to this process.
pub unsafe fn metadata_behind(barrier: &'static Barrier, handler: HandlerFn) -> Answer {
    asked(|frame| {
        // SAFETY: by contract.
        unsafe { call::guarded(Some(barrier), handler, frame) }
    })
}

/// What a registration did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Registered {
    /// What to give to XLA under this name, for each stage: the same function every time.
    pub trampoline: HandlerFn,
    /// The registration that this one replaced.
    pub replaced: Option<Replaced>,
}

/// A registration that is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replaced {
    /// Whose it was.
    pub owner: Option<String>,
}

/// A name that is or was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The target of the custom call.
    pub target: String,
    /// The platform, as [`canonical_platform`] spells it.
    pub platform: String,
    /// Whose the handler is, or was.
    pub owner: Option<String>,
    /// Whether there is a handler now.
    pub active: bool,
}

/// The registry of this process (or, rather, of this copy of the crate). All its functions may be
/// called from any thread.
pub struct Registry {
    names: Mutex<Names>,
}

impl Registry {
    /// The registry.
    #[must_use]
    pub fn global() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| Registry {
            names: Mutex::default(),
        })
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The trampoline of that name, if it has a handler.
    #[must_use]
    pub fn lookup(&self, target: &str, platform: &str) -> Option<HandlerFn> {
        let names = self.names();
        let index = names.find(target, &canonical_platform(platform))?;
        let active = names.all[index].entry.active;
        active.then(|| TRAMPOLINES.get(index))
    }

    /// The handlers of that name for XLA: the [trampoline](Registered::trampoline) for each stage that
    /// they have.
    #[must_use]
    pub fn lookup_bundle(
        &self,
        target: &str,
        platform: &str,
    ) -> Option<sys::XLA_FFI_Handler_Bundle> {
        let names = self.names();
        let index = names.find(target, &canonical_platform(platform))?;
        names.all[index].entry.active.then(|| names.bundle(index))
    }

    /// As [`lookup_bundle`](Registry::lookup_bundle), of the name that has this trampoline.
    #[must_use]
    pub fn bundle_of(&self, trampoline: HandlerFn) -> Option<sys::XLA_FFI_Handler_Bundle> {
        let index = TRAMPOLINES.slot_of(trampoline)?;
        let names = self.names();
        (index < names.all.len()).then(|| names.bundle(index))
    }

    /// What the handlers of that name were registered [with](Handlers::with_data), if that is a `T`.
    #[must_use]
    pub fn data<T: Any + Send + Sync>(&self, target: &str, platform: &str) -> Option<Arc<T>> {
        let names = self.names();
        let index = names.find(target, &canonical_platform(platform))?;
        let kept = names.all[index].kept()?;
        kept.downcast_ref::<Arc<T>>().cloned()
    }

    /// Every name that is or was registered, in order of first registration.
    #[must_use]
    pub fn list(&self) -> Vec<Entry> {
        let names = self.names();
        names.all.iter().map(|name| name.entry.clone()).collect()
    }
}
