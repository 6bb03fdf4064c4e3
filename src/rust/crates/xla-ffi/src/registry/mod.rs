//! Handlers by target and platform, behind functions whose addresses never change.
//!
//! XLA keeps the pointer that it was given under a name for ever, and refuses a second one. So XLA
//! is given a [trampoline](Registered::trampoline), which runs whatever handler is current: one can
//! be replaced, or withdrawn before its library is unloaded, and a call that comes too late gets an
//! error instead of unmapped memory.

mod slot;
mod trampoline;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::entry::HandlerFn;
use crate::error::{Code, Error, Result};

pub use trampoline::CAPACITY;
use trampoline::{SLOTS, TRAMPOLINES};

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

/// What a registration did.
#[derive(Clone, Debug)]
pub struct Registered {
    /// What to give to XLA under this name: the same function every time.
    pub trampoline: HandlerFn,
    /// The registration that this one replaced.
    pub replaced: Option<Replaced>,
}

/// A registration that is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Whose it was.
    pub owner: Option<String>,
}

/// A name that is or was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
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

#[derive(Default)]
struct Names {
    /// One for each slot in use, in order of first registration.
    entries: Vec<Entry>,
    by_name: HashMap<(String, String), usize>,
}

/// The registry of this process (or, rather, of this copy of the crate). All its functions may be
/// called from any thread.
pub struct Registry {
    names: Mutex<Names>,
    /// Held while a handler changes and its calls run out, so that changes come one after the
    /// other; `names` is not held meanwhile, because a call that fails for want of a handler asks
    /// it for the name.
    change: Mutex<()>,
}

impl Registry {
    /// The registry.
    #[must_use]
    pub fn global() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| Registry {
            names: Mutex::default(),
            change: Mutex::new(()),
        })
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `handler` the one that runs for `target` on `platform`. Where there was another, this
    /// returns when no call of it is running any more; so a handler must not call
    /// this.
    ///
    /// # Errors
    /// [`Code::ResourceExhausted`] when [`CAPACITY`] different names have been registered;
    /// [`Code::InvalidArgument`] for an empty name.
    pub fn register(
        &self,
        target: &str,
        platform: &str,
        handler: HandlerFn,
        owner: Option<&str>,
    ) -> Result<Registered> {
        if target.is_empty() || platform.is_empty() {
            let what = if target.is_empty() {
                "target"
            } else {
                "platform"
            };
            return Err(Error::invalid_argument(format!(
                "a custom call needs a {what} name"
            )));
        }
        let _one_at_a_time = self.changing();
        let key = (target.to_owned(), canonical_platform(platform));
        let owner = owner.map(str::to_owned);
        let (index, replaced) = {
            let mut names = self.names();
            match names.by_name.get(&key).copied() {
                Some(index) => {
                    let entry = &mut names.entries[index];
                    let old = std::mem::replace(&mut entry.owner, owner);
                    let was_active = std::mem::replace(&mut entry.active, true);
                    (index, was_active.then_some(Replaced { owner: old }))
                }
                None => {
                    let index = names.entries.len();
                    if index >= CAPACITY {
                        return Err(full(&key.0, &key.1));
                    }
                    let (target, platform) = key.clone();
                    names.entries.push(Entry {
                        target,
                        platform,
                        owner,
                        active: true,
                    });
                    names.by_name.insert(key, index);
                    (index, None)
                }
            }
        };
        SLOTS[index].set(Some(handler));
        Ok(Registered {
            trampoline: TRAMPOLINES.get(index),
            replaced,
        })
    }

    /// Withdraws the handler of that name; returns whether there was one, when no call of it is
    /// running any more. From then on its library may be unloaded. A handler must not call this.
    pub fn unregister(&self, target: &str, platform: &str) -> bool {
        let _one_at_a_time = self.changing();
        let key = (target.to_owned(), canonical_platform(platform));
        let index = {
            let mut names = self.names();
            let Some(&index) = names.by_name.get(&key) else {
                return false;
            };
            if !std::mem::replace(&mut names.entries[index].active, false) {
                return false;
            }
            index
        };
        SLOTS[index].set(None);
        true
    }

    /// [Withdraws](Registry::unregister) all handlers of that owner; returns how many there were.
    pub fn unregister_owner(&self, owner: &str) -> usize {
        let of_owner: Vec<Entry> = self.list().into_iter().filter(|e| e.is_of(owner)).collect();
        of_owner
            .iter()
            .filter(|entry| self.unregister(&entry.target, &entry.platform))
            .count()
    }

    /// The trampoline of that name, if it has a handler.
    #[must_use]
    pub fn lookup(&self, target: &str, platform: &str) -> Option<HandlerFn> {
        let key = (target.to_owned(), canonical_platform(platform));
        let names = self.names();
        let &index = names.by_name.get(&key)?;
        names.entries[index].active.then(|| TRAMPOLINES.get(index))
    }

    /// Every name that is or was registered, in order of first registration.
    #[must_use]
    pub fn list(&self) -> Vec<Entry> {
        self.names().entries.clone()
    }

    /// The error of a call that finds no handler in its slot.
    #[cold]
    pub(crate) fn unregistered(&self, index: usize) -> Error {
        let names = self.names();
        let Some(Entry {
            target,
            platform,
            owner,
            ..
        }) = names.entries.get(index)
        else {
            return Error::internal(format!("slot {index} was never registered"));
        };
        let whose = owner
            .as_ref()
            .map(|owner| format!(" (it belonged to {owner})"))
            .unwrap_or_default();
        Error::new(
            Code::FailedPrecondition,
            format!(
                "custom call target `{target}` (platform {platform}) was unregistered{whose}; \
                 register it again before running programs that call it"
            ),
        )
    }
}

impl Entry {
    fn is_of(&self, owner: &str) -> bool {
        self.active && self.owner.as_deref() == Some(owner)
    }
}

#[cold]
fn full(target: &str, platform: &str) -> Error {
    Error::new(
        Code::ResourceExhausted,
        format!(
            "cannot register custom call target `{target}` (platform {platform}): \
             all {CAPACITY} slots are taken, and XLA never lets go of a name"
        ),
    )
}
