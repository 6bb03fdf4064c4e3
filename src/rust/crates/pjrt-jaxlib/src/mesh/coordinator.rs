//! Process 0's side: lets the processes in, passes on what one tells to the others, and says who is gone.

use super::wire::{Message, LARGEST};
use super::{Limits, Settings};
use crate::error::{Error, Result};
use crate::event::in_background;
use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who connects has so long to say who it is, and so long to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// Nobody has more to say for a beginning.
const LARGEST_HELLO: usize = 64 << 10;

struct Room {
    limits: Limits,
    job: String,
    /// How many have come that have not said who they are.
    strangers: AtomicUsize,
    opened: Instant,
    state: Mutex<State>,
}

struct State {
    seats: Vec<Option<Seat>>,
    started: bool,
    is_closed: bool,
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

/// A code and why.
type Refusal = (&'static str, String);

struct Meeting {
    parties: Vec<u32>,
    mark: u64,
    what: String,
    here: Vec<u32>,
}

/// Where processes come in; when it is dropped nobody listens there any more, and those who are in are told.
pub(super) struct Door {
    at: SocketAddr,
    room: Arc<Room>,
    is_closed: Arc<AtomicBool>,
    /// Closed when the port is free.
    listening: Receiver<()>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        self.room.close();
        // Wakes who waits at it; where that fails, the next one who comes does.
        let _ = TcpStream::connect_timeout(&self.at, Duration::from_secs(1));
        let _ = self.listening.recv_timeout(Duration::from_secs(1));
    }
}

/// Reads until a moment, however little comes at a time.
struct Until<'a>(&'a TcpStream, Instant);

impl Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.set_read_timeout(Some(left))?;
        self.0.read(into)
    }
}

/// Lets the processes in at `listener` from now on.
pub(super) fn open(listener: TcpListener, settings: &Settings) -> Result<Door> {
    let processes = settings.processes;
    let most = 2 * processes as usize + 64;
    let at = listener
        .local_addr()
        .map_err(|error| Error::internal(format!("the listener has no address: {error}")))?;
    let is_closed = Arc::new(AtomicBool::new(false));
    let room = Arc::new(Room {
        limits: settings.limits,
        job: settings.job.clone(),
        strangers: AtomicUsize::new(0),
        opened: Instant::now(),
        state: Mutex::new(State {
            seats: (0..processes).map(|_| None).collect(),
            started: false,
            is_closed: false,
            meetings: HashMap::new(),
        }),
    });
    let (watched, shut) = (Arc::clone(&room), Arc::clone(&is_closed));
    let (open, listening) = channel();
    let inside = Arc::clone(&room);
    in_background("xlaffi-mesh-watch", move || while watched.look_around() {})?;
    in_background("xlaffi-mesh-door", move || {
        for stream in listener.incoming() {
            if shut.load(Ordering::Acquire) {
                break;
            }
            let Ok(stream) = stream else {
                // There may be descriptors again a little later.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if room.strangers.fetch_add(1, Ordering::AcqRel) >= most {
                room.strangers.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let seat = Arc::clone(&room);
            if in_background("xlaffi-mesh-seat", move || seat.serve(&stream)).is_err() {
                // Where no thread can be started, the process is not let in.
                room.strangers.fetch_sub(1, Ordering::AcqRel);
            }
        }
        drop(listener);
        drop::<Sender<()>>(open);
    })?;
    Ok(Door {
        at,
        room: inside,
        is_closed,
        listening,
    })
}

impl State {
    /// Sends to all that are here but `but`.
    fn tell(&self, message: &Message, but: Option<u32>) {
        self.tell_those(message, |process| Some(process) != but);
    }

    /// Sends to some of those that are here; to process 0, which may end then, last.
    fn tell_those(&self, message: &Message, is_one: impl Fn(u32) -> bool) {
        for (process, seat) in (0..).zip(&self.seats).collect::<Vec<_>>().into_iter().rev() {
            let seat = seat.as_ref().filter(|s| !s.is_empty && is_one(process));
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

    /// Where a process waits for one that waits for it elsewhere, or for something else, neither goes on.
    fn mismatch(&self, process: u32, key: &str, came: &Meeting) -> Option<String> {
        let (parties, what) = (&came.parties, &came.what);
        let elsewhere = |other: &Meeting| other.here.iter().find(|p| parties.contains(p)).copied();
        self.meetings.iter().find_map(|(at, other)| {
            let differs = if at == key {
                (other.mark, &other.what) != (came.mark, what)
            } else {
                other.parties.contains(&process)
            };
            let with = elsewhere(other).filter(|_| differs)?;
            let other = if other.what == *what {
                "another one of the same shapes, or has launched others before"
            } else {
                &format!("one {}", other.what)
            };
            Some(format!(
                "process {process} launches a program {what}, process {with} {other}; all processes must launch the same \
                 programs in the same order"
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
        if state.is_closed {
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

    /// Sends everybody away: process 0 goes on without them.
    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        if state.started {
            let why = "it could not start, or was interrupted";
            gone(&mut state, 0, why.to_owned());
        } else {
            state.tell(&no_more(), None);
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
        if let Err((code, why)) =
            belongs.and_then(|()| state.may_come(process, processes, &version))
        {
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

    /// Jobs that nobody has told each other's ports may come to listen at the same one.
    fn is_same_job(&self, process: u32, job: &str) -> std::result::Result<(), Refusal> {
        if job.is_empty() || self.job.is_empty() || job == self.job {
            return Ok(());
        }
        Err((
            "FAILED_PRECONDITION",
            format!(
                "process {process} belongs to job `{job}`, the coordinator that listens there to job `{}`",
                self.job
            ),
        ))
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
            Message::Meet {
                key,
                parties,
                mark,
                what,
            } => {
                let here = Vec::new();
                let came = Meeting {
                    parties,
                    mark,
                    what,
                    here,
                };
                meet(&mut state, process, key, came);
            }
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
    ) -> std::result::Result<(), Refusal> {
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

fn no_more() -> Message {
    let why = "process 0, the coordinator, waits for the others no more";
    Message::Refused("UNAVAILABLE".into(), why.into())
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

fn meet(state: &mut State, process: u32, key: String, came: Meeting) {
    if let Some(why) = state.mismatch(process, &key, &came) {
        return state.tell(&Message::Gone(process, why), None);
    }
    let meeting = state.meetings.entry(key.clone()).or_insert(came);
    meeting.here.push(process);
    if meeting.parties.iter().all(|p| meeting.here.contains(p)) {
        if let Some(meeting) = state.meetings.remove(&key) {
            state.tell_those(&Message::Met, |process| meeting.parties.contains(&process));
        }
    }
}
