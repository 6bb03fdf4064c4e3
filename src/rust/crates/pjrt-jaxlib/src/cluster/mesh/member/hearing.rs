//! What a process hears from the others by way of the coordinator.

use super::mesh::Mesh;
use crate::base::error::Result;
use crate::cluster::mesh::wire::{Message, LARGEST};
use crate::run::signal::in_background;
use std::sync::Arc;

impl Mesh {
    pub(super) fn listen(self: &Arc<Self>) -> Result<()> {
        let limit = Some(self.settings.limits.heartbeat);
        // Where the system has no time-outs, a coordinator that is silent is noticed later.
        let _ = self.stream.set_read_timeout(limit);
        let mesh = Arc::clone(self);
        in_background("xlaffi-mesh-ear", move || loop {
            match Message::receive(&mesh.stream, LARGEST) {
                Ok(message) => mesh.hear(message),
                Err(error) => return mesh.lost(&error),
            }
        })?;
        let mesh = Arc::clone(self);
        in_background("xlaffi-mesh-beat", move || {
            while !mesh.state().has_left && mesh.send(&Message::Beat) {
                std::thread::sleep(mesh.settings.limits.beat());
            }
        })
    }

    fn hear(self: &Arc<Self>, message: Message) {
        let mut state = self.state();
        match message {
            Message::Set(key, value) => {
                state.fresh.push((key.clone(), value.clone()));
                state.values.insert(key, value);
            }
            Message::Left(process) => {
                if let Some(peer) = state.peers.get_mut(process as usize) {
                    peer.has_left = true;
                }
            }
            // What this process has said of itself.
            Message::Gone(process, _) if state.has_left && process == self.settings.process => {
                if let Some(peer) = state.peers.get_mut(process as usize) {
                    peer.has_left = true;
                }
            }
            Message::Gone(process, why) => {
                drop(state);
                return self.broken(process, why);
            }
            _ => {}
        }
        drop(state);
        self.changed.notify_all();
    }
}
