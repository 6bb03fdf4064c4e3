//! The mesh as one of its processes has it.

use super::announced::Announced;
use super::link::Link;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::coordinator::Listener;
use crate::cluster::mesh::wire::Message;
use crate::cluster::mesh::Settings;
use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The mesh that this process is part of.
pub(crate) struct Mesh {
    pub settings: Settings,
    /// No other mesh of this process has it.
    pub number: i64,
    /// Where the others reach this process.
    pub address: IpAddr,
    /// The connection to the coordinator. Who sends has it for itself: messages must not be cut by others.
    pub(super) stream: TcpStream,
    pub(super) sending: Mutex<()>,
    /// Where the others come in: it stays open, so that who comes late is told.
    pub(super) listener: Mutex<Option<Listener>>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    /// Those to the other processes, by number, once all are connected.
    pub(super) links: OnceLock<Vec<Option<Link>>>,
    pub(super) announced: Mutex<Announced>,
    pub(super) opened: Instant,
    /// Whether XLA may be connecting the processes: while the client is made, and from a launch that was not expected to its
    /// end.
    pub(super) may_connect: AtomicBool,
    /// Milliseconds from `opened` to the last launch over several processes that was not expected.
    pub(super) launched: AtomicU64,
    /// How many programs are under way here in which processes exchange something.
    pub(super) under_way: AtomicUsize,
}

/// A program is under way in which processes exchange something.
pub(crate) struct Exchanging(Arc<Mesh>);

impl Drop for Exchanging {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Default)]
pub(super) struct State {
    pub(super) peers: Vec<Peer>,
    pub(super) trouble: Option<String>,
    /// Since when there is.
    pub(super) troubled: Option<Instant>,
    pub(super) has_left: bool,
    pub(super) values: HashMap<String, Vec<u8>>,
    /// Values that XLA here has not got yet.
    pub(super) fresh: Vec<(String, Vec<u8>)>,
}

/// One of the processes.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// The name of its machine.
    pub host: String,
    /// The number that the system there gave it.
    pub pid: String,
    /// Where the others reach it.
    pub address: String,
    /// How many devices it has.
    pub devices: String,
    /// Whether it has left as it should.
    pub has_left: bool,
    /// Why the others cannot go on with it.
    pub gone: Option<String>,
}

/// The mesh as this process sees it.
#[derive(Clone, Debug)]
pub struct Status {
    /// The number of this process.
    pub process: u32,
    /// Where the coordinator listens.
    pub coordinator: String,
    /// Who carries the data: `gloo` or `mpi`.
    pub collectives: &'static str,
    /// All processes, by number.
    pub processes: Vec<Peer>,
    /// Why no program over several processes can be launched any more.
    pub trouble: Option<String>,
}

impl Peer {
    pub(super) fn new(facts: Vec<String>) -> Self {
        let mut facts = facts.into_iter();
        let mut next = || facts.next().unwrap_or_default();
        Self {
            host: next(),
            pid: next(),
            address: next(),
            devices: next(),
            has_left: false,
            gone: None,
        }
    }
}

impl Mesh {
    /// The mesh of all that have come, whose `facts` are known.
    pub(super) fn new(
        settings: &Settings,
        address: IpAddr,
        stream: TcpStream,
        listener: Option<Listener>,
        facts: Vec<Vec<String>>,
    ) -> Self {
        static NEXT: AtomicI64 = AtomicI64::new(1);
        Self {
            settings: settings.clone(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            address,
            stream,
            sending: Mutex::new(()),
            listener: Mutex::new(listener),
            state: Mutex::new(State {
                peers: facts.into_iter().map(Peer::new).collect(),
                ..State::default()
            }),
            changed: Condvar::new(),
            links: OnceLock::new(),
            announced: Mutex::default(),
            opened: Instant::now(),
            may_connect: AtomicBool::new(true),
            launched: AtomicU64::new(0),
            under_way: AtomicUsize::new(0),
        }
    }

    /// The client is there.
    pub fn connected(&self) {
        self.may_connect.store(false, Ordering::Release);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends to the coordinator; whether it could. A connection that is lost is noticed by who listens.
    pub(super) fn send(&self, message: &Message) -> bool {
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = message.send(&self.stream).is_ok();
        if !sent {
            // A part may have gone out, and nobody can make sense of what would come next.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        sent
    }

    /// Waits for what `look` finds.
    pub(super) fn wait<T>(&self, limit: Duration, look: impl Fn(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.state();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let found = look(&state);
            if found.is_some() || left.is_zero() {
                return found;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn status(&self) -> Status {
        let state = self.state();
        let mut peers = state.peers.clone();
        if let Some(peer) = peers.get_mut(self.settings.process as usize) {
            peer.has_left |= state.has_left;
        }
        Status {
            process: self.settings.process,
            coordinator: self.settings.coordinator.clone(),
            collectives: self.settings.collectives.name(),
            processes: peers,
            trouble: state.trouble.clone(),
        }
    }

    /// Whether programs over these processes can be launched.
    pub fn check(&self, parties: &[u32]) -> Result<()> {
        refusal(&self.state(), parties).map_or(Ok(()), Err)
    }

    /// Counts a program in which processes exchange something, as long as what it gives lives.
    pub fn begin(self: &Arc<Self>) -> Exchanging {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        Exchanging(Arc::clone(self))
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::Acquire) > 0
    }

    /// Why the processes cannot go on together, and for how long that has been known.
    pub fn trouble(&self) -> Option<(String, Duration)> {
        let state = self.state();
        Some((state.trouble.clone()?, state.troubled?.elapsed()))
    }

    /// Tells the others.
    pub fn set(&self, key: &str, value: Vec<u8>) {
        self.send(&Message::Set(key.to_owned(), value));
    }

    /// What another process has told.
    pub fn get(&self, key: &str) -> Result<Vec<u8>> {
        let all: Vec<u32> = (0..self.settings.processes).collect();
        let found = self.wait(self.settings.limits.startup, |state| {
            let value = state.values.get(key).cloned().map(Ok);
            value.or_else(|| refusal(state, &all).map(Err))
        });
        found.unwrap_or_else(|| Err(Error::deadline("another process did not start in time")))
    }

    /// Waits for what the others have told XLA, for a time that depends on whether XLA may have something to tell: to ask it
    /// costs more than a short program. An expected launch may be the first one to take a branch. `None` when it is over.
    pub fn fresh(&self) -> Option<Vec<(String, Vec<u8>)>> {
        let launched = Duration::from_millis(self.launched.load(Ordering::Relaxed));
        let idle = self.opened.elapsed().saturating_sub(launched);
        let pause = match idle.as_secs() {
            _ if self.may_connect.load(Ordering::Acquire) => 10,
            0..=60 => 100,
            _ => 500,
        };
        let limit = Duration::from_millis(pause);
        self.wait(limit, |state| {
            let over = state.has_left || state.trouble.is_some();
            (over || !state.fresh.is_empty()).then_some(())
        });
        let mut state = self.state();
        let over = state.has_left || state.trouble.is_some();
        (!over).then(|| std::mem::take(&mut state.fresh))
    }
}

pub(super) fn refusal(state: &State, parties: &[u32]) -> Option<Error> {
    if let Some(trouble) = &state.trouble {
        return Some(Error::unavailable(format!(
            "programs over several processes cannot be run any more: {trouble}"
        )));
    }
    if state.has_left {
        return Some(Error::precondition("this process has left the mesh"));
    }
    let has_left = |p: &&u32| state.peers.get(**p as usize).is_some_and(|p| p.has_left);
    // Without the coordinator nobody learns who is gone.
    let left = [0].iter().chain(parties).find(has_left)?;
    let who = if *left == 0 { ", the coordinator," } else { "" };
    Some(Error::unavailable(format!(
        "process {left}{who} has left the mesh"
    )))
}
