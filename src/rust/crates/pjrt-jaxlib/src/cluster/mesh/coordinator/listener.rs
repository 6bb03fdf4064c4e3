//! How processes come in.

use super::state::{Coordinator, State};
use crate::base::error::{Error, Result};
use crate::cluster::mesh::Settings;
use crate::run::signal::in_background;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Where processes come in; when it is dropped nobody listens there any more, and those who are in are told.
pub(in crate::cluster::mesh) struct Listener {
    at: SocketAddr,
    coordinator: Arc<Coordinator>,
    is_closed: Arc<AtomicBool>,
    /// Closed when the port is free.
    listening: Receiver<()>,
}

impl Listener {
    /// Where it is, unless that is everywhere.
    pub fn place(&self) -> Option<SocketAddr> {
        Some(self.at).filter(|at| !at.ip().is_unspecified())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        self.coordinator.close();
        // Wakes who waits at it; where that fails, the next one who comes does.
        let _ = TcpStream::connect_timeout(&self.at, Duration::from_secs(1));
        let _ = self.listening.recv_timeout(Duration::from_secs(1));
    }
}

/// Lets the processes in at `listener` from now on.
pub(in crate::cluster::mesh) fn open(
    listener: TcpListener,
    settings: &Settings,
) -> Result<Listener> {
    let processes = settings.processes;
    let most = 2 * processes as usize + 64;
    let at = listener
        .local_addr()
        .map_err(|error| Error::internal(format!("the listener has no address: {error}")))?;
    let is_closed = Arc::new(AtomicBool::new(false));
    let coordinator = Arc::new(Coordinator {
        limits: settings.limits,
        job: settings.job.clone(),
        at,
        strangers: AtomicUsize::new(0),
        opened: Instant::now(),
        state: Mutex::new(State {
            slots: (0..processes).map(|_| None).collect(),
            started: false,
            failed: None,
            is_closed: false,
        }),
    });
    let (watched, shut) = (Arc::clone(&coordinator), Arc::clone(&is_closed));
    let (open, listening) = channel();
    let inside = Arc::clone(&coordinator);
    in_background("xlaffi-mesh-watch", move || while watched.look_around() {})?;
    in_background("xlaffi-mesh-accept", move || {
        for stream in listener.incoming() {
            if shut.load(Ordering::Acquire) {
                break;
            }
            let Ok(stream) = stream else {
                // There may be descriptors again a little later.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if coordinator.strangers.fetch_add(1, Ordering::AcqRel) >= most {
                coordinator.strangers.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let serving = Arc::clone(&coordinator);
            if in_background("xlaffi-mesh-serve", move || serving.serve(&stream)).is_err() {
                // Where no thread can be started, the process is not let in.
                coordinator.strangers.fetch_sub(1, Ordering::AcqRel);
            }
        }
        drop(listener);
        drop::<Sender<()>>(open);
    })?;
    Ok(Listener {
        at,
        coordinator: inside,
        is_closed,
        listening,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::mesh::wire::{Message, LARGEST};
    use crate::cluster::mesh::{Collectives, Limits};

    fn settings(startup: u64) -> Settings {
        let limit = Duration::from_secs(30);
        Settings {
            coordinator: String::new(),
            job: String::new(),
            bind: None,
            address: None,
            process: 0,
            processes: 2,
            collectives: Collectives::Gloo,
            limits: Limits {
                startup: Duration::from_secs(startup),
                heartbeat: limit,
                collective: limit,
            },
        }
    }

    fn come(listener: &Listener, process: u32, host: &str, address: &str) -> TcpStream {
        let stream = TcpStream::connect(listener.at).unwrap();
        let fact = |text: &str| text.to_owned();
        let hello = Message::Hello {
            process,
            processes: 2,
            job: String::new(),
            version: String::new(),
            facts: vec![fact(host), fact("1"), fact(address), fact("1")],
        };
        hello.send(&stream).unwrap();
        stream
    }

    /// What the last one is told, of two that come from there.
    fn answer(places: [(&str, &str); 2]) -> Message {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = open(listener, &settings(30)).unwrap();
        let _first = come(&listener, 0, places[0].0, places[0].1);
        let second = come(&listener, 1, places[1].0, places[1].1);
        Message::receive(&second, LARGEST).unwrap()
    }

    #[test]
    fn an_address_of_the_loopback_is_for_one_machine() {
        let here = ("a", "127.0.1.1");
        assert!(matches!(
            answer([here, ("a", "10.0.0.1")]),
            Message::Start(_)
        ));
        assert!(matches!(
            answer([here, ("b", "127.0.0.1")]),
            Message::Start(_)
        ));
        for places in [[here, ("b", "10.0.0.2")], [("b", "10.0.0.2"), here]] {
            let Message::Refused(code, why) = answer(places) else {
                panic!("{places:?}")
            };
            assert_eq!(code, "FAILED_PRECONDITION");
            assert!(why.contains("on a gives the address 127.0.1.1"), "{why}");
            assert!(why.contains("on b cannot reach"), "{why}");
        }
    }

    #[test]
    fn one_that_is_of_another_number_ends_the_start_for_all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = open(listener, &settings(600)).unwrap();
        let first = come(&listener, 0, "a", "127.0.0.1");
        let stranger = TcpStream::connect(listener.at).unwrap();
        let hello = |process, processes, version: &str| Message::Hello {
            process,
            processes,
            job: String::new(),
            version: version.to_owned(),
            facts: vec![],
        };
        hello(1, 3, "").send(&stranger).unwrap();
        // The last one comes when the others have been told: before, it may be one of the two that start.
        let late = || come(&listener, 1, "a", "127.0.0.1");
        let streams = [stranger, first].into_iter();
        for stream in streams.chain(std::iter::once_with(late)) {
            let answer = Message::receive(&stream, LARGEST).unwrap();
            let Message::Refused(code, why) = answer else {
                panic!("{answer:?}")
            };
            assert_eq!(code, "INVALID_ARGUMENT");
            assert_eq!(
                why,
                "process 1 was told of 3 processes, the coordinator of 2"
            );
        }
    }

    #[test]
    fn when_all_have_come_nobody_else_ends_anything() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = open(listener, &settings(600)).unwrap();
        let both = [0, 1].map(|process| come(&listener, process, "a", "127.0.0.1"));
        for stream in &both {
            let answer = Message::receive(stream, LARGEST).unwrap();
            assert!(matches!(answer, Message::Start(_)), "{answer:?}");
        }
        let stranger = TcpStream::connect(listener.at).unwrap();
        let hello = Message::Hello {
            process: 1,
            processes: 3,
            job: String::new(),
            version: String::new(),
            facts: vec![],
        };
        hello.send(&stranger).unwrap();
        let answer = Message::receive(&stranger, LARGEST).unwrap();
        assert!(matches!(answer, Message::Refused(..)), "{answer:?}");
        for stream in &both {
            let answer = Message::receive(stream, LARGEST).unwrap();
            assert_eq!(answer, Message::Beat);
        }
    }

    #[test]
    fn who_waits_at_the_loopback_says_so() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = open(listener, &settings(1)).unwrap();
        let only = come(&listener, 0, "a", "127.0.0.1");
        let Message::Refused(code, why) = Message::receive(&only, LARGEST).unwrap() else {
            panic!("one of two has come")
        };
        assert_eq!(code, "DEADLINE_EXCEEDED");
        assert!(why.contains("process 1 of 2 has not come"), "{why}");
        assert!(
            why.contains(&format!("listens at {}", listener.at)),
            "{why}"
        );
    }
}
