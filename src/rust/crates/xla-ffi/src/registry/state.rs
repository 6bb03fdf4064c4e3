//! The registry of a process.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::entry::{canonical_platform, Entry};
use super::names::Names;

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

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the handlers of that name were registered [with](super::Handlers::with_data), if that is a `T`.
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
