//! What calls, and XLA's questions, ask the registry by slot.

use super::entry::Entry;
use super::names::{Info, Name};
use super::state::Registry;
use crate::error::{Code, Error};
use crate::sys;
use crate::version::asked_metadata;

impl Registry {
    /// How errors call what is in a slot: `target (platform)`.
    pub(crate) fn name(&self, slot: usize) -> String {
        match self.names().all.get(slot).map(|name| &name.entry) {
            Some(entry) => format!("{} ({})", entry.target, entry.platform),
            None => format!("slot {slot}"),
        }
    }

    /// What is registered in a slot.
    pub(crate) fn entry(&self, slot: usize) -> Option<Entry> {
        self.names().all.get(slot).map(|name| name.entry.clone())
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
    pub(crate) unsafe fn note_info(&self, slot: usize, frame: *const sys::XLA_FFI_CallFrame) {
        // SAFETY: by contract; `api` is null or XLA's table, which starts with its version.
        let info = unsafe {
            let Some(metadata) = asked_metadata(frame).and_then(|metadata| metadata.as_ref())
            else {
                return;
            };
            let version = (*frame).api.as_ref().map(|api| api.api_version);
            Info {
                traits: metadata.traits,
                xla: version.map(|v| (v.major_version, v.minor_version)),
            }
        };
        if let Some(name) = self.names().all.get_mut(slot) {
            name.info = Some(info);
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
