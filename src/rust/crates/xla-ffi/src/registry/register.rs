//! Names get handlers.

use super::barrier;
use super::entry::canonical_platform;
use super::handlers::Handlers;
use super::state::Registry;
use super::trampoline::TRAMPOLINES;
use crate::error::{Error, Result};
use crate::query::{asked, Answer};
use crate::version::HandlerFn;

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

impl Registry {
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
    /// [`Code::ResourceExhausted`](crate::Code::ResourceExhausted) when [`CAPACITY`](super::CAPACITY) different names have been registered;
    /// [`Code::InvalidArgument`](crate::Code::InvalidArgument) for an empty name, without a function for the execute stage, or
    /// where that is a trampoline that leads back to this name;
    /// [`Code::FailedPrecondition`](crate::Code::FailedPrecondition) where XLA knows the name, and the handlers have other traits or
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
            unsafe { barrier::guarded(handlers.barrier, execute, frame) }
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
}
