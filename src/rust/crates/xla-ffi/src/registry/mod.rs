//! Handlers by target and platform, behind functions whose addresses never change.
//!
//! XLA keeps the pointer that it was given under a name for ever, and refuses a second one. So XLA
//! is given a [trampoline](Registered::trampoline), which runs whatever handler is current: one can
//! be replaced, or withdrawn before its library is unloaded, and a call that comes too late gets an
//! error instead of unmapped memory.
//!
//! What XLA has asked once it keeps, too: a handler that takes the place of another must have the
//! same traits and stages, and a version that XLA accepts.

mod call;
mod current;
mod futures;
mod handlers;
mod names;
mod services;
mod slot;
mod trampoline;
mod withdrawn;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::entry::{asked_metadata, HandlerFn};
use crate::error::{Code, Error, Result};
use crate::query::{asked, Answer};
use crate::sys;

pub use handlers::{Barrier, Handlers};
use names::{Name, Names, Told};
pub use trampoline::CAPACITY;
use trampoline::TRAMPOLINES;
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

    /// Makes `handler` the one that runs for `target` on `platform`, in the execute stage.
    ///
    /// # Errors
    /// As [`register_handlers`](Registry::register_handlers).
    ///
    /// # Safety
    /// As [`register_handlers`](Registry::register_handlers).
    pub unsafe fn register(
        &self,
        target: &str,
        platform: &str,
        handler: HandlerFn,
        owner: Option<&str>,
    ) -> Result<Registered> {
        // SAFETY: by contract.
        unsafe { self.register_handlers(target, platform, handler.into(), owner) }
    }

    /// Makes `handlers` the ones that run for `target` on `platform`, from the next call on. Calls
    /// of those that were there before go on; [withdrawing](Registry::withdraw) the name, or
    /// what their owner has, waits for them, too.
    ///
    /// # Errors
    /// [`Code::ResourceExhausted`] when [`CAPACITY`] different names have been registered;
    /// [`Code::InvalidArgument`] for an empty name, without a function for the execute stage, or
    /// where that is a trampoline that leads back to this name;
    /// [`Code::FailedPrecondition`] where XLA knows the name, and the handlers have other traits or
    /// stages than it was told, or a version that it refuses.
    ///
    /// # Safety
    /// The functions are XLA FFI handlers, and stay where they are until they are replaced or
    /// withdrawn and no call of them is running any more (see [`Handlers::keeping`]).
    pub unsafe fn register_handlers(
        &self,
        target: &str,
        platform: &str,
        handlers: Handlers,
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
        let Some(execute) = handlers.execute() else {
            return Err(Error::invalid_argument(format!(
                "custom call target `{target}` needs a handler for the execute stage"
            )));
        };
        // Without the lock: it is foreign code.
        let answer = asked(|frame| {
            // SAFETY: by contract a handler.
            unsafe { call::guarded(handlers.barrier, execute, frame) }
        });
        let metadata = match answer {
            Answer::Metadata(metadata) => Some(metadata),
            _ => None,
        };
        let mut names = self.names();
        let index = names.find_or_add(target, &canonical_platform(platform))?;
        if names.leads_to(index, execute) {
            return Err(Error::invalid_argument(format!(
                "the handler of custom call target `{target}` (platform {platform}) calls that target"
            )));
        }
        let name = &mut names.all[index];
        name.accepts(metadata.as_ref(), handlers.stages())?;
        name.last_traits = metadata.map_or(0, |metadata| metadata.traits.bits());
        let old = std::mem::replace(&mut name.entry.owner, owner.map(str::to_owned));
        let was_active = std::mem::replace(&mut name.entry.active, true);
        let kept = name.install(index, handlers, owner);
        let swept = names.sweep();
        drop(names);
        // Without the lock again: it may unload a library.
        drop((kept, swept));
        Ok(Registered {
            trampoline: TRAMPOLINES.get(index),
            replaced: was_active.then_some(Replaced { owner: old }),
        })
    }

    /// Withdraws the handler of that name and tells whether there was one, and what still runs. A
    /// new call gets an error from now on.
    pub fn withdraw(&self, target: &str, platform: &str) -> Withdrawn {
        let mut names = self.names();
        let Some(index) = names.find(target, &canonical_platform(platform)) else {
            return Withdrawn::default();
        };
        let name = &mut names.all[index];
        let found = name.withdraw(index);
        Withdrawn::new(usize::from(found), name.running(|_| true))
    }

    /// [Withdraws](Registry::withdraw) all handlers of that owner. What still runs are calls of
    /// these and of what was that owner's before it was replaced.
    pub fn withdraw_owner(&self, owner: &str) -> Withdrawn {
        let mut names = self.names();
        let (mut found, mut running) = (0, Vec::new());
        for (index, name) in names.all.iter_mut().enumerate() {
            if name.entry.is_of(owner) && name.withdraw(index) {
                found += 1;
            }
            running.extend(name.running(|of| of == Some(owner)));
        }
        Withdrawn::new(found, running)
    }

    /// [Withdraws](Registry::withdraw) the handler of that name; returns whether there was one,
    /// when no call of it is running any more. From then on its library may be unloaded. A handler
    /// must not call this.
    pub fn unregister(&self, target: &str, platform: &str) -> bool {
        let withdrawn = self.withdraw(target, platform);
        withdrawn.wait();
        withdrawn.count() > 0
    }

    /// [Withdraws](Registry::withdraw_owner) all handlers of that owner; returns how many there
    /// were, when no call of them is running any more. A handler must not call this.
    pub fn unregister_owner(&self, owner: &str) -> usize {
        let withdrawn = self.withdraw_owner(owner);
        withdrawn.wait();
        withdrawn.count()
    }

    /// Lets go of what was kept for handlers that are no longer registered, nor running.
    fn sweep(&self) {
        let swept = self.names().sweep();
        drop(swept);
    }

    /// The trampoline of that name, if it has a handler.
    #[must_use]
    pub fn lookup(&self, target: &str, platform: &str) -> Option<HandlerFn> {
        let names = self.names();
        let index = names.find(target, &canonical_platform(platform))?;
        let active = names.all[index].entry.active;
        active.then(|| TRAMPOLINES.get(index))
    }

    /// Every name that is or was registered, in order of first registration.
    #[must_use]
    pub fn list(&self) -> Vec<Entry> {
        let names = self.names();
        names.all.iter().map(|name| name.entry.clone()).collect()
    }

    /// How errors call what is in a slot: `target (platform)`.
    pub(crate) fn name(&self, slot: usize) -> String {
        match self.names().all.get(slot).map(|name| &name.entry) {
            Some(entry) => format!("{} ({})", entry.target, entry.platform),
            None => format!("slot {slot}"),
        }
    }

    /// The message with the custom call before it; `None` where it starts with its name, or with
    /// the part of it behind a dot (`ours.lu` is our `lu`).
    pub(crate) fn named(&self, slot: usize, message: &str) -> Option<String> {
        let names = self.names();
        let Entry {
            target, platform, ..
        } = &names.all.get(slot)?.entry;
        let short = target.rsplit('.').next().unwrap_or(target);
        let starts_with = |name: &str| {
            let rest = message.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" ("))
        };
        (!starts_with(target) && !starts_with(short))
            .then(|| format!("{target} ({platform}): {message}"))
    }

    /// Notes what XLA was told, and what it is itself.
    ///
    /// # Safety
    /// `frame` is XLA's, with a metadata query that has been answered.
    pub(crate) unsafe fn told(&self, slot: usize, frame: *const sys::XLA_FFI_CallFrame) {
        // SAFETY: by contract; `api` is null or XLA's table, which starts with its version.
        let told = unsafe {
            let Some(metadata) = asked_metadata(frame).and_then(|metadata| metadata.as_ref())
            else {
                return;
            };
            let version = (*frame).api.as_ref().map(|api| api.api_version);
            Told {
                traits: metadata.traits,
                xla: version.map(|v| (v.major_version, v.minor_version)),
            }
        };
        if let Some(name) = self.names().all.get_mut(slot) {
            name.told = Some(told);
        }
    }

    /// The traits of the handler that a slot had last.
    pub(crate) fn last_traits(&self, slot: usize) -> sys::XLA_FFI_Handler_Traits {
        self.names()
            .all
            .get(slot)
            .map_or(0, |name| name.last_traits)
    }

    /// The error of a call that finds no handler in its slot.
    #[cold]
    pub(crate) fn unregistered(&self, slot: usize) -> Error {
        let names = self.names();
        let Some(Name {
            entry:
                Entry {
                    target,
                    platform,
                    owner,
                    ..
                },
            ..
        }) = names.all.get(slot)
        else {
            return Error::internal(format!("slot {slot} was never registered"));
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
