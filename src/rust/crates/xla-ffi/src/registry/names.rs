//! What is known of each name: kept under the registry's lock, and never looked at by a call that
//! finds its handler.

use std::any::Any;
use std::collections::HashMap;

use super::calls::Calls;
use super::entry::Entry;
use super::handlers::{Handlers, Keep};
use super::slot::{Installed, STAGES};
use super::slots::{CAPACITY, SLOTS};
use crate::error::{Code, Error, Result};
use crate::query::Metadata;
use crate::sys;
use crate::version::HandlerFn;

#[derive(Default)]
pub(super) struct Names {
    /// One for each slot in use, in order of first registration.
    pub(super) all: Vec<Name>,
    by_name: HashMap<(String, String), usize>,
}

pub(super) struct Name {
    pub(super) entry: Entry,
    /// What XLA was told of it, and keeps.
    pub(super) info: Option<Info>,
    pub(super) last_traits: sys::XLA_FFI_Handler_Traits,
    pub(super) stages: [bool; STAGES],
    /// The function that it has now for calls.
    pub(super) execute: Option<HandlerFn>,
    /// The current handlers, and those before that may be running; the others are spare.
    installations: Vec<Installation>,
}

/// What XLA was told when it asked, and its own version.
pub(super) struct Info {
    pub(super) traits: sys::XLA_FFI_Handler_Traits,
    pub(super) xla: Option<(i32, i32)>,
}

struct Installation {
    installed: &'static Installed,
    current: bool,
    owner: Option<String>,
    keep: Option<Keep>,
}

impl Names {
    pub(super) fn find(&self, target: &str, platform: &str) -> Option<usize> {
        let key = (target.to_owned(), platform.to_owned());
        self.by_name.get(&key).copied()
    }

    pub(super) fn find_or_add(&mut self, target: &str, platform: &str) -> Result<usize> {
        if let Some(index) = self.find(target, platform) {
            return Ok(index);
        }
        let index = self.all.len();
        if index >= CAPACITY {
            return Err(full(target, platform));
        }
        self.all.push(Name {
            entry: Entry {
                target: target.to_owned(),
                platform: platform.to_owned(),
                owner: None,
                active: false,
            },
            info: None,
            last_traits: 0,
            stages: [false; STAGES],
            execute: None,
            installations: Vec::new(),
        });
        let key = (target.to_owned(), platform.to_owned());
        self.by_name.insert(key, index);
        Ok(index)
    }

    /// Takes out what was kept for handlers that are neither current nor running.
    pub(super) fn sweep(&mut self) -> Vec<Keep> {
        let installations = self.all.iter_mut().flat_map(|name| &mut name.installations);
        let idle = installations.filter(|installation| installation.is_spare());
        idle.filter_map(|installation| installation.keep.take())
            .collect()
    }
}

impl Installation {
    fn is_spare(&self) -> bool {
        !self.current && self.installed.running() == 0
    }
}

impl Name {
    /// What is kept for the current handlers.
    pub(super) fn kept(&self) -> Option<&(dyn Any + Send)> {
        let current = self
            .installations
            .iter()
            .find(|installation| installation.current)?;
        current.keep.as_deref()
    }

    /// Whether handlers that answered that may take this name.
    pub(super) fn accepts(
        &self,
        metadata: Option<&Metadata>,
        stages: [bool; STAGES],
    ) -> Result<()> {
        let (Some(info), Some(metadata)) = (&self.info, metadata) else {
            return Ok(());
        };
        let refuse = |what: String| {
            let Entry {
                target, platform, ..
            } = &self.entry;
            let text = format!(
                "custom call target `{target}` (platform {platform}) cannot have this handler: {what}"
            );
            Err(Error::new(Code::FailedPrecondition, text))
        };
        if let Some(xla) = info
            .xla
            .filter(|&xla| !accepts_version(xla, metadata.version))
        {
            let ((major, minor), (have_major, have_minor)) = (metadata.version, xla);
            return refuse(format!(
                "it was built for XLA FFI {major}.{minor}, and XLA has {have_major}.{have_minor}"
            ));
        }
        if info.traits != metadata.traits.bits() {
            return refuse(format!(
                "its traits are {}, and XLA, which keeps what it was told first, has {}; \
                 register it under another name",
                metadata.traits.bits(),
                info.traits
            ));
        }
        if self.stages != stages {
            return refuse(
                "its stages are not those that XLA has been told; register it under another name"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Makes the handlers this slot's current ones; what the place that they take kept before.
    pub(super) fn install(
        &mut self,
        slot: usize,
        handlers: Handlers,
        owner: Option<&str>,
    ) -> Option<Keep> {
        self.stages = handlers.stages();
        self.execute = handlers.execute();
        let at = self.installations.iter().position(Installation::is_spare);
        let at = at.unwrap_or_else(|| {
            self.installations.push(Installation {
                installed: Box::leak(Box::new(Installed::new())),
                current: false,
                owner: None,
                keep: None,
            });
            self.installations.len() - 1
        });
        let installation = &mut self.installations[at];
        let (functions, barrier) = (handlers.addresses(), handlers.barrier_address());
        let data = handlers.data.cast_mut();
        installation.installed.reuse(slot, functions, barrier, data);
        installation.owner = owner.map(str::to_owned);
        let kept = std::mem::replace(&mut installation.keep, handlers.keep);
        SLOTS[slot].set(Some(installation.installed));
        for (i, installation) in self.installations.iter_mut().enumerate() {
            installation.current = i == at;
        }
        kept
    }

    /// Empties the slot; whether there was something in it.
    pub(super) fn withdraw(&mut self, slot: usize) -> bool {
        SLOTS[slot].set(None);
        self.execute = None;
        for installation in &mut self.installations {
            installation.current = false;
        }
        std::mem::replace(&mut self.entry.active, false)
    }

    /// Calls that run in handlers that are no longer current, of the owners that are asked for.
    pub(super) fn running(&self, of: impl Fn(Option<&str>) -> bool) -> Vec<Calls> {
        let old = self.installations.iter().filter(|installation| {
            !installation.current
                && installation.installed.running() > 0
                && of(installation.owner.as_deref())
        });
        old.map(|installation| Calls::of(installation.installed))
            .collect()
    }
}

fn accepts_version(xla: (i32, i32), handler: (i32, i32)) -> bool {
    handler.0 == xla.0 && handler.1 <= xla.1
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
