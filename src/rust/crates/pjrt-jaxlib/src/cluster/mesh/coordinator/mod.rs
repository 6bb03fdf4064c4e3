//! Process 0's side: lets the processes in, passes on what one tells to the others, and says who is gone.

mod admission;
mod door;

pub(super) use door::{open, Door};

use super::wire::{Message, LARGEST};
use super::Limits;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

struct Room {
    limits: Limits,
    job: String,
    /// Where it listens.
    at: SocketAddr,
    /// How many have come that have not said who they are.
    strangers: AtomicUsize,
    opened: Instant,
    state: Mutex<State>,
}

struct State {
    seats: Vec<Option<Seat>>,
    started: bool,
    /// Why the start has failed, where it has before the time was over.
    failed: Option<Refusal>,
    is_closed: bool,
}

struct Seat {
    out: TcpStream,
    heard: Instant,
    version: String,
    facts: Vec<String>,
    /// It has left, or is gone: nothing is to be expected of it.
    is_empty: bool,
}

impl Seat {
    fn host(&self) -> &str {
        self.facts.first().map_or("", String::as_str)
    }

    /// Where the others reach it.
    fn address(&self) -> Option<IpAddr> {
        self.facts.get(2)?.parse().ok()
    }
}

impl State {
    /// Sends to all that are here but `but`; to process 0, which may end then, last.
    fn tell(&self, message: &Message, but: Option<u32>) {
        for (process, seat) in (0..).zip(&self.seats).collect::<Vec<_>>().into_iter().rev() {
            let is_one = |seat: &&Seat| !seat.is_empty && Some(process) != but;
            let seat = seat.as_ref().filter(is_one);
            if let Some(seat) = seat {
                if message.send(&seat.out).is_err() {
                    // It may have got a part, and cannot make sense of what would come next.
                    let _ = seat.out.shutdown(Shutdown::Both);
                }
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let empty = self.seats.iter().enumerate().filter(|(_, s)| s.is_none());
        empty.map(|(process, _)| process.to_string()).collect()
    }
}

impl Room {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Beats, and looks who does not; once in a while. Nobody has to look any more where the start has failed.
    fn look_around(&self) -> bool {
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
                state.seats.len(),
                self.limits.startup.as_secs()
            );
            state.tell(&Message::Refused("DEADLINE_EXCEEDED".into(), why), None);
            return false;
        }
        state.tell(&Message::Beat, None);
        let silent: Vec<u32> = (0..)
            .zip(&state.seats)
            .filter_map(|(process, seat)| {
                let seat = seat.as_ref().filter(|s| !s.is_empty)?;
                (seat.heard.elapsed() > self.limits.heartbeat).then_some(process)
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
    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        if state.started {
            let why = "it could not start, or was interrupted";
            gone(&mut state, 0, why.to_owned());
        } else {
            state.tell(&door::no_more(), None);
        }
        for seat in state.seats.iter_mut().flatten() {
            seat.is_empty = true;
            let _ = seat.out.shutdown(Shutdown::Both);
        }
    }

    /// Lets one process in and listens to it to its end.
    fn serve(&self, stream: &TcpStream) {
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
            state.seats[process as usize] = None;
        }
    }

    /// Whether there is more to hear of the process.
    fn hear(&self, process: u32, message: Message) -> bool {
        let mut state = self.state();
        let Some(seat) = &mut state.seats[process as usize] else {
            return false;
        };
        seat.heard = Instant::now();
        if seat.is_empty {
            return false;
        }
        match message {
            Message::Set(..) => state.tell(&message, Some(process)),
            Message::Gone(_, why) => gone(&mut state, process, why),
            Message::Left(_) => {
                state.tell(&Message::Left(process), None);
                if let Some(seat) = &mut state.seats[process as usize] {
                    seat.is_empty = true;
                }
                return false;
            }
            _ => {}
        }
        true
    }
}

/// A code and why.
type Refusal = (&'static str, String);

/// Tells all that the others cannot go on with a process, once.
fn gone(state: &mut State, process: u32, why: String) {
    let seat = &state.seats[process as usize];
    if seat.as_ref().is_some_and(|seat| !seat.is_empty) {
        state.tell(&Message::Gone(process, why), None);
        if let Some(seat) = &mut state.seats[process as usize] {
            seat.is_empty = true;
        }
    }
}
