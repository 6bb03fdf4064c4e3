//! What the coordinator knows of the processes.

use crate::cluster::mesh::wire::Message;
use crate::cluster::mesh::Limits;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub(super) struct Coordinator {
    pub(super) limits: Limits,
    pub(super) job: String,
    /// Where it listens.
    pub(super) at: SocketAddr,
    /// How many have come that have not said who they are.
    pub(super) strangers: AtomicUsize,
    pub(super) opened: Instant,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) started: bool,
    /// Why the start has failed, where it has before the time was over.
    pub(super) failed: Option<Refusal>,
    pub(super) is_closed: bool,
}

pub(super) struct Slot {
    pub(super) out: TcpStream,
    pub(super) heard: Instant,
    pub(super) version: String,
    pub(super) facts: Vec<String>,
    /// It has left, or is gone: nothing is to be expected of it.
    pub(super) is_empty: bool,
}

impl Slot {
    pub(super) fn host(&self) -> &str {
        self.facts.first().map_or("", String::as_str)
    }

    /// Where the others reach it.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.facts.get(2)?.parse().ok()
    }
}

impl State {
    /// Sends to all that are here but `but`; to process 0, which may end then, last.
    pub(super) fn tell(&self, message: &Message, but: Option<u32>) {
        for (process, slot) in (0..).zip(&self.slots).collect::<Vec<_>>().into_iter().rev() {
            let is_one = |slot: &&Slot| !slot.is_empty && Some(process) != but;
            let slot = slot.as_ref().filter(is_one);
            if let Some(slot) = slot {
                if message.send(&slot.out).is_err() {
                    // It may have got a part, and cannot make sense of what would come next.
                    let _ = slot.out.shutdown(Shutdown::Both);
                }
            }
        }
    }

    pub(super) fn missing(&self) -> Vec<String> {
        let empty = self.slots.iter().enumerate().filter(|(_, s)| s.is_none());
        empty.map(|(process, _)| process.to_string()).collect()
    }
}

impl Coordinator {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A code and why.
pub(super) type Refusal = (&'static str, String);

/// Tells all that the others cannot go on with a process, once.
pub(super) fn gone(state: &mut State, process: u32, why: String) {
    let slot = &state.slots[process as usize];
    if slot.as_ref().is_some_and(|slot| !slot.is_empty) {
        state.tell(&Message::Gone(process, why), None);
        if let Some(slot) = &mut state.slots[process as usize] {
            slot.is_empty = true;
        }
    }
}
