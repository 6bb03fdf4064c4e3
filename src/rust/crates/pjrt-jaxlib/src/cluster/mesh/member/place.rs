//! Which mesh this process has joined, or is about to.

use super::mesh::{Mesh, Status};
use crate::base::error::{Error, Result};
use crate::cluster::mesh::cancel::CancelToken;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

enum Slot {
    Free,
    Joining(CancelToken),
    Joined(Arc<Mesh>),
}

static MESH: Mutex<Slot> = Mutex::new(Slot::Free);
static FREED: Condvar = Condvar::new();

fn slot() -> MutexGuard<'static, Slot> {
    MESH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mesh, where this process has joined one.
pub(super) fn joined() -> Option<Arc<Mesh>> {
    match &*slot() {
        Slot::Joined(mesh) => Some(Arc::clone(mesh)),
        _ => None,
    }
}

/// Holds the place while a process joins; free again where it did not get in.
pub(in crate::cluster::mesh) struct Joining(());

impl Joining {
    /// Waits for one that was given up.
    pub fn begin(cancel: &CancelToken) -> Result<Self> {
        let ends = |slot: &mut Slot| match slot {
            Slot::Joining(other) => other.is_given_up() && !cancel.is_given_up(),
            _ => false,
        };
        let limit = Duration::from_secs(30);
        let waited = FREED.wait_timeout_while(slot(), limit, ends);
        let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        cancel.check()?;
        match &*slot {
            Slot::Free => {
                *slot = Slot::Joining(cancel.clone());
                Ok(Self(()))
            }
            Slot::Joining(_) => Err(Error::exists("this process is joining a mesh already")),
            Slot::Joined(mesh) => Err(Error::exists(format!(
                "this process is process {} of {} already, with the coordinator {}",
                mesh.settings.process, mesh.settings.processes, mesh.settings.coordinator
            ))),
        }
    }

    pub fn end(self, mesh: &Arc<Mesh>) {
        *slot() = Slot::Joined(Arc::clone(mesh));
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        let mut slot = slot();
        if matches!(*slot, Slot::Joining(_)) {
            *slot = Slot::Free;
            FREED.notify_all();
        }
    }
}

/// Nothing of the mesh is left in this process: its client is gone. The others are told.
pub(crate) fn part(mesh: &Arc<Mesh>) {
    mesh.part();
    let mut slot = slot();
    if matches!(&*slot, Slot::Joined(joined) if Arc::ptr_eq(joined, mesh)) {
        *slot = Slot::Free;
    }
}

/// Leaves the mesh; the others are told. Nothing where there is none.
pub fn leave() {
    if let Some(mesh) = joined() {
        mesh.leave();
    }
}

/// The mesh as it is now.
pub fn status() -> Option<Status> {
    joined().map(|mesh| mesh.status())
}
