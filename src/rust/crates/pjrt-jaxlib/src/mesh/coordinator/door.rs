//! How processes come in.

use super::{Room, Seat, State};
use crate::error::{Error, Result};
use crate::event::in_background;
use crate::mesh::wire::{Message, Until, PATIENCE};
use crate::mesh::Settings;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Nobody has more to say for a beginning.
const LARGEST_HELLO: usize = 64 << 10;

/// A code and why.
type Refusal = (&'static str, String);

/// Where processes come in; when it is dropped nobody listens there any more, and those who are in are told.
pub(in crate::mesh) struct Door {
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

/// Lets the processes in at `listener` from now on.
pub(in crate::mesh) fn open(listener: TcpListener, settings: &Settings) -> Result<Door> {
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

impl Room {
    /// The number of the process where it may take part.
    pub(super) fn admit(&self, stream: &TcpStream) -> io::Result<Option<u32>> {
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

pub(super) fn no_more() -> Message {
    let why = "process 0, the coordinator, waits for the others no more";
    Message::Refused("UNAVAILABLE".into(), why.into())
}
