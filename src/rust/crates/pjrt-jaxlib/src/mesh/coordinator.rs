//! Process 0's side: lets the processes in, passes on what one tells to the others, and says who is gone.

use super::wire::Message;
use super::Limits;
use crate::error::{Error, Result};
use crate::event::in_background;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who connects has so long to say who it is, and so long to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);

struct Room {
    limits: Limits,
    opened: Instant,
    state: Mutex<State>,
}

struct State {
    seats: Vec<Option<Seat>>,
    started: bool,
    meetings: HashMap<String, Meeting>,
}

struct Seat {
    out: TcpStream,
    heard: Instant,
    version: String,
    facts: Vec<String>,
    /// It has left, or is gone: nothing is to be expected of it.
    is_empty: bool,
}

struct Meeting {
    parties: Vec<u32>,
    what: String,
    here: Vec<u32>,
}

/// Where processes come in; closed when it is dropped.
pub(super) struct Door {
    at: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

impl Door {
    /// It stays open for as long as the process lives: who comes late is told.
    pub fn leave_open(self) {
        std::mem::forget(self);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // Wakes who waits at it; where that fails, the next one who comes does.
        let _ = TcpStream::connect_timeout(&self.at, Duration::from_secs(1));
    }
}

/// Lets `processes` in at `listener` from now on.
pub(super) fn open(listener: TcpListener, processes: u32, limits: Limits) -> Result<Door> {
    let at = listener
        .local_addr()
        .map_err(|error| Error::internal(format!("the listener has no address: {error}")))?;
    let is_closed = Arc::new(AtomicBool::new(false));
    let room = Arc::new(Room {
        limits,
        opened: Instant::now(),
        state: Mutex::new(State {
            seats: (0..processes).map(|_| None).collect(),
            started: false,
            meetings: HashMap::new(),
        }),
    });
    let (watched, shut) = (Arc::clone(&room), Arc::clone(&is_closed));
    in_background("xlaffi-mesh-watch", move || while watched.look_around() {})?;
    in_background("xlaffi-mesh-door", move || {
        for stream in listener.incoming().flatten() {
            if shut.load(Ordering::Acquire) {
                return;
            }
            let room = Arc::clone(&room);
            // Where no thread can be started, the process is not let in.
            let _ = in_background("xlaffi-mesh-seat", move || room.serve(&stream));
        }
    })?;
    Ok(Door { at, is_closed })
}

impl State {
    /// Sends to all that are here but `but`; to process 0, which may end then, last. One that does not take it is noticed by
    /// its silence.
    fn tell(&self, message: &Message, but: Option<u32>) {
        for (process, seat) in (0..).zip(&self.seats).collect::<Vec<_>>().into_iter().rev() {
            if let Some(seat) = seat
                .as_ref()
                .filter(|s| !s.is_empty && Some(process) != but)
            {
                let _ = message.send(&seat.out);
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let empty = self.seats.iter().enumerate().filter(|(_, s)| s.is_none());
        empty.map(|(process, _)| process.to_string()).collect()
    }

    /// Where a process waits for one that waits for it elsewhere, or for something else, neither goes on.
    fn mismatch(&self, process: u32, key: &str, parties: &[u32], what: &str) -> Option<String> {
        let elsewhere = |other: &Meeting| other.here.iter().find(|p| parties.contains(p)).copied();
        self.meetings.iter().find_map(|(at, other)| {
            let differs = if at == key {
                other.what != what
            } else {
                other.parties.contains(&process)
            };
            let with = elsewhere(other).filter(|_| differs)?;
            Some(format!(
                "process {process} launches a program {what}, process {with} one {}; all processes must launch the \
                 same programs in the same order",
                other.what
            ))
        })
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
            let why = format!(
                "{noun} {} of {} {verb} not come within {} s",
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

    /// Lets one process in and listens to it to its end.
    fn serve(&self, stream: &TcpStream) {
        let Ok(Some(process)) = self.admit(stream) else {
            return;
        };
        let why = loop {
            match Message::receive(stream) {
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

    /// The number of the process where it may take part.
    fn admit(&self, stream: &TcpStream) -> io::Result<Option<u32>> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let Message::Hello {
            process,
            processes,
            version,
            facts,
        } = Message::receive(stream)?
        else {
            return Ok(None);
        };
        stream.set_read_timeout(None)?;
        let mut state = self.state();
        if let Err((code, why)) = state.may_come(process, processes, &version) {
            Message::Refused(code.into(), why).send(stream)?;
            return Ok(None);
        }
        state.seats[process as usize] = Some(Seat {
            out: stream.try_clone()?,
            heard: Instant::now(),
            version,
            facts,
            is_empty: false,
        });
        if state.missing().is_empty() {
            state.started = true;
            let facts = state.seats.iter().flatten().map(|s| s.facts.clone());
            state.tell(&Message::Start(facts.collect()), None);
        }
        Ok(Some(process))
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
            Message::Meet { key, parties, what } => meet(&mut state, process, key, parties, what),
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

impl State {
    /// Why a process cannot take part.
    fn may_come(
        &self,
        process: u32,
        processes: u32,
        version: &str,
    ) -> std::result::Result<(), (&'static str, String)> {
        let here = self.seats.len();
        let refused = |why| Err(("INVALID_ARGUMENT", why));
        if processes as usize != here {
            return refused(format!(
                "process {process} was told of {processes} processes, the coordinator of {here}"
            ));
        }
        let Some(seat) = self.seats.get(process as usize) else {
            return refused(format!(
                "processes are numbered from 0 to {}, not {process}",
                here - 1
            ));
        };
        if let Some(seat) = seat {
            let what = if seat.is_empty {
                "was there, and the others go on without it"
            } else {
                "is there already"
            };
            return Err((
                "ALREADY_EXISTS",
                format!("process {process} {what} ({})", seat.facts.join(", ")),
            ));
        }
        match self.seats.iter().flatten().find(|s| s.version != version) {
            Some(other) => Err((
                "FAILED_PRECONDITION",
                format!(
                    "all processes must run the same versions; process {process} runs {version}, another one {}",
                    other.version
                ),
            )),
            None => Ok(()),
        }
    }
}

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

fn meet(state: &mut State, process: u32, key: String, parties: Vec<u32>, what: String) {
    if let Some(why) = state.mismatch(process, &key, &parties, &what) {
        return state.tell(&Message::Gone(process, why), None);
    }
    let meeting = state.meetings.entry(key.clone()).or_insert(Meeting {
        parties,
        what,
        here: Vec::new(),
    });
    if !meeting.here.contains(&process) {
        meeting.here.push(process);
    }
    if meeting.parties.iter().all(|p| meeting.here.contains(p)) {
        state.meetings.remove(&key);
        state.tell(&Message::Met(key), None);
    }
}
