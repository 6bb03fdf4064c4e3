//! What XLA is given for a name.

use super::entry::canonical_platform;
use super::names::Names;
use super::state::Registry;
use super::trampoline::TRAMPOLINES;
use crate::sys;
use crate::version::HandlerFn;

impl Names {
    /// What XLA is given for a slot: its trampoline, for each stage that the handlers have.
    pub(super) fn bundle(&self, slot: usize) -> sys::XLA_FFI_Handler_Bundle {
        let trampoline = |stage: bool| stage.then(|| TRAMPOLINES.get(slot));
        let [instantiate, prepare, initialize, execute] = self.all[slot].stages.map(trampoline);
        sys::XLA_FFI_Handler_Bundle {
            instantiate,
            prepare,
            initialize,
            execute,
        }
    }

    /// Whether a call of `function` would come to that slot, by way of trampolines.
    pub(super) fn leads_to(&self, slot: usize, function: HandlerFn) -> bool {
        let mut next = TRAMPOLINES.slot_of(function);
        while let Some(at) = next {
            if at == slot {
                return true;
            }
            let name = self.all.get(at);
            next = name.and_then(|name| TRAMPOLINES.slot_of(name.execute?));
        }
        false
    }
}

impl Registry {
    /// The trampoline of that name, if it has a handler.
    #[must_use]
    pub fn lookup(&self, target: &str, platform: &str) -> Option<HandlerFn> {
        let names = self.names();
        let index = names.find(target, &canonical_platform(platform))?;
        let active = names.all[index].entry.active;
        active.then(|| TRAMPOLINES.get(index))
    }

    /// The handlers of that name for XLA: the [trampoline](super::Registered::trampoline) for each stage that
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
}
