//! What the coordinator does: it lets processes in, hears them, and looks who is silent.

use super::state::{gone, Coordinator, Slot};
use crate::cluster::mesh::wire::{Message, Until, LARGEST, PATIENCE};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Nobody has more to say for a beginning.
const LARGEST_HELLO: usize = 64 << 10;

impl Coordinator {
    /// Beats, and looks who does not; once in a while. Nobody has to look any more where the start has failed.
    pub(super) fn look_around(&self) -> bool {
        std::thread::sleep(self.limits.beat());
        let mut state = self.state();
        if state.is_closed || state.failed.is_some() {
            return false;
        }
        if !state.started {
            if self.opened.elapsed() < self.limits.startup {
                return true;
            }
            let missing = state.missing();
            let (noun, verb) = if missing.len() == 1 {
                ("process", "has")
            } else {
                ("processes", "have")
            };
            // On a machine itself its name may mean the loopback.
            let reach = if self.at.ip().is_loopback() {
                let at = self.at;
                format!("; process 0 listens at {at}, which other machines cannot reach (`bind_address`)")
            } else {
                String::new()
            };
            let why = format!(
                "{noun} {} of {} {verb} not come within {} s{reach}",
                missing.join(", "),
                state.slots.len(),
                self.limits.startup.as_secs()
            );
            state.tell(&Message::Refused("DEADLINE_EXCEEDED".into(), why), None);
            return false;
        }
        state.tell(&Message::Beat, None);
        let silent: Vec<u32> = (0..)
            .zip(&state.slots)
            .filter_map(|(process, slot)| {
                let slot = slot.as_ref().filter(|s| !s.is_empty)?;
                (slot.heard.elapsed() > self.limits.heartbeat).then_some(process)
            })
            .collect();
        for process in silent {
            let why = format!(
                "it gave no sign of life for {} s",
                self.limits.heartbeat.as_secs()
            );
            gone(&mut state, process, why);
        }
        true
    }

    /// Sends everybody away: process 0 goes on without them.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        if state.started {
            let why = "it could not start, or was interrupted";
            gone(&mut state, 0, why.to_owned());
        } else {
            state.tell(&no_more(), None);
        }
        for slot in state.slots.iter_mut().flatten() {
            slot.is_empty = true;
            let _ = slot.out.shutdown(Shutdown::Both);
        }
    }

    /// Lets one process in and listens to it to its end.
    pub(super) fn serve(&self, stream: &TcpStream) {
        let admitted = self.admit(stream);
        self.strangers.fetch_sub(1, Ordering::AcqRel);
        let Ok(Some(process)) = admitted else {
            return;
        };
        let why = loop {
            match Message::receive(stream, LARGEST) {
                Ok(message) => {
                    if !self.hear(process, message) {
                        return;
                    }
                }
                Err(_) => break "its connection is closed: it ended or was killed",
            }
        };
        let mut state = self.state();
        if state.started {
            gone(&mut state, process, why.into());
        } else {
            // Another one may come in its place.
            state.slots[process as usize] = None;
        }
    }

    /// Whether there is more to hear of the process.
    fn hear(&self, process: u32, message: Message) -> bool {
        let mut state = self.state();
        let Some(slot) = &mut state.slots[process as usize] else {
            return false;
        };
        slot.heard = Instant::now();
        if slot.is_empty {
            return false;
        }
        match message {
            Message::Set(..) => state.tell(&message, Some(process)),
            Message::Gone(_, why) => gone(&mut state, process, why),
            Message::Left(_) => {
                state.tell(&Message::Left(process), None);
                if let Some(slot) = &mut state.slots[process as usize] {
                    slot.is_empty = true;
                }
                return false;
            }
            _ => {}
        }
        true
    }

    /// The number of the process where it may take part.
    fn admit(&self, stream: &TcpStream) -> io::Result<Option<u32>> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Message::Hello {
            process,
            processes,
            job,
            version,
            facts,
        } = Message::receive(Until(stream, Instant::now() + PATIENCE), LARGEST_HELLO)?
        else {
            return Ok(None);
        };
        stream.set_read_timeout(None)?;
        let mut state = self.state();
        if state.is_closed {
            no_more().send(stream)?;
            return Ok(None);
        }
        let belongs = self.is_same_job(process, &job);
        let fits = belongs.and_then(|()| state.fits(process, processes, &version));
        if let Err((code, why)) = fits.and_then(|()| state.may_come(process)) {
            Message::Refused(code.into(), why).send(stream)?;
            return Ok(None);
        }
        state.slots[process as usize] = Some(Slot {
            out: stream.try_clone()?,
            heard: Instant::now(),
            version,
            facts,
            is_empty: false,
        });
        if state.missing().is_empty() {
            if let Some(why) = state.out_of_reach() {
                state.tell(&Message::Refused("FAILED_PRECONDITION".into(), why), None);
                return Ok(Some(process));
            }
            state.started = true;
            let facts = state.slots.iter().flatten().map(|s| s.facts.clone());
            state.tell(&Message::Start(facts.collect()), None);
        }
        Ok(Some(process))
    }
}

fn no_more() -> Message {
    let why = "process 0, the coordinator, waits for the others no more";
    Message::Refused("UNAVAILABLE".into(), why.into())
}
