//! Every process's side: how it comes in, what it knows of the others, and how it leaves.

use super::attempt::Attempt;
use super::coordinator::{self, Door};
use super::course::{Course, Launch};
use super::wire::{Message, LARGEST};
use super::{runtime, Settings};
use crate::error::{Error, Result};
use crate::event::in_background;
use crate::python::gil::blocking;
use pjrt_api::PJRT_Error_Code;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::ErrorKind;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The mesh that this process is part of.
pub(crate) struct Mesh {
    pub settings: Settings,
    /// No other mesh of this process has it.
    pub number: i64,
    /// Where the others reach this process.
    pub address: IpAddr,
    /// The connection to the coordinator. Who sends has it for itself: messages must not be cut by others.
    stream: TcpStream,
    sending: Mutex<()>,
    /// Where the others come in: it stays open, so that who comes late is told.
    door: Mutex<Option<Door>>,
    state: Mutex<State>,
    changed: Condvar,
    opened: Instant,
    /// Whether a launch may have made connections since the last one that was seen to its end.
    may_connect: AtomicBool,
    /// Milliseconds from `opened` to the last launch over several processes that was not expected.
    launched: AtomicU64,
}

#[derive(Default)]
struct State {
    peers: Vec<Peer>,
    trouble: Option<String>,
    has_left: bool,
    values: HashMap<String, Vec<u8>>,
    /// Values that XLA here has not got yet.
    fresh: Vec<(String, Vec<u8>)>,
    /// What was launched, by the devices.
    courses: HashMap<String, Course>,
    /// How many launches the coordinator was told of, and of how many it said that all processes launch the same.
    told: u64,
    agreed: u64,
}

impl State {
    fn course(&mut self, launch: &Launch) -> &mut Course {
        self.courses.entry(launch.devices.clone()).or_default()
    }
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

enum Slot {
    Free,
    Joining(Attempt),
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
pub(super) struct Joining(());

impl Joining {
    /// Waits for one that was given up.
    pub fn begin(attempt: &Attempt) -> Result<Self> {
        let ends = |slot: &mut Slot| match slot {
            Slot::Joining(other) => other.is_given_up() && !attempt.is_given_up(),
            _ => false,
        };
        let limit = Duration::from_secs(30);
        let waited = FREED.wait_timeout_while(slot(), limit, ends);
        let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        attempt.check()?;
        match &*slot {
            Slot::Free => {
                *slot = Slot::Joining(attempt.clone());
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

/// What an error of XLA's is about that comes from gloo. From then on nothing can be exchanged any more: what others sent for
/// this collective would be taken for the next one's.
pub(crate) fn explain(text: &str) -> Option<Error> {
    const COLLECTIVE: &str = "Gloo ";
    let mesh = text.contains(COLLECTIVE).then(joined).flatten()?;
    // Who it was is known a moment after its connections have closed.
    let known = mesh.wait(Duration::from_secs(2), |state| {
        let left = state.peers.iter().position(|p| p.has_left);
        let left = left.map(|p| format!("process {p} has left the mesh"));
        state.trouble.clone().or(left)
    });
    let late = ["Timed out", "timed out", "timeout"];
    let (code, why) = match known {
        Some(why) => (PJRT_Error_Code::UNAVAILABLE, why),
        None if late.iter().any(|t| text.contains(t)) => (
            PJRT_Error_Code::DEADLINE_EXCEEDED,
            "another process did not come in time".to_owned(),
        ),
        None => (
            PJRT_Error_Code::UNAVAILABLE,
            "another process cannot be reached".to_owned(),
        ),
    };
    mesh.fail(&format!("a collective ended with an error: {why}"));
    let text = text.lines().next().unwrap_or(text);
    Some(Error {
        code,
        message: format!("a collective over several processes failed: {why} ({text})"),
        own: false,
    })
}

/// All addresses of `host:port`.
fn addresses(name: &str, what: &str) -> Result<Vec<SocketAddr>> {
    let wrong = |why: &dyn Display| {
        Error::invalid(format!(
            "option `{what}` must be host:port, got `{name}` ({why})"
        ))
    };
    let found: Vec<_> = name
        .to_socket_addrs()
        .map_err(|error| wrong(&error))?
        .collect();
    match found.first() {
        None => Err(wrong(&"no such host")),
        Some(first) if first.port() == 0 => Err(wrong(
            &"all processes must know the port, so it cannot be 0",
        )),
        Some(_) => Ok(found),
    }
}

/// Comes in; returns when all processes are there.
pub(super) fn join(
    settings: &Settings,
    version: String,
    host: &str,
    devices: i64,
    attempt: &Attempt,
) -> Result<Arc<Mesh>> {
    let targets = addresses(&settings.coordinator, "coordinator_address")?;
    if targets.iter().any(|a| a.ip().is_unspecified()) {
        return Err(Error::invalid(format!(
            "option `coordinator_address` must be an address that the other processes can reach, got `{}`",
            settings.coordinator
        )));
    }
    let deadline = Instant::now() + settings.limits.startup;
    let door = open_door(settings, &targets)?;
    let stream = reach(settings, &targets, deadline, attempt)?;
    attempt.connected(&stream)?;
    let lost = |error: std::io::Error| {
        Error::unavailable(format!(
            "the connection to the coordinator at {} was lost before all processes had come ({error})",
            settings.coordinator
        ))
    };
    let here = stream.local_addr().map_err(lost)?.ip();
    let address = match &settings.address {
        None => here,
        Some(name) => addresses(&format!("{name}:1"), "host_address")?[0].ip(),
    };
    if address.is_unspecified() {
        return Err(Error::invalid(format!(
            "option `host_address` must be one address of this machine, got `{address}`"
        )));
    }
    let facts = vec![
        host.to_owned(),
        std::process::id().to_string(),
        address.to_string(),
        devices.to_string(),
    ];
    let hello = Message::Hello {
        process: settings.process,
        processes: settings.processes,
        job: settings.job.clone(),
        version,
        facts,
    };
    hello.send(&stream).map_err(lost)?;
    // The coordinator says who is missing, a little later.
    let grace = settings.limits.beat() + Duration::from_secs(2);
    let left = deadline.saturating_duration_since(Instant::now()) + grace;
    stream.set_read_timeout(Some(left)).map_err(lost)?;
    let answer = Message::receive(&stream, LARGEST);
    attempt.check()?;
    let facts = match answer.map_err(lost)? {
        Message::Start(facts) => facts,
        Message::Refused(code, why) => {
            return Err(Error::from_xla(
                &format!("{code}: {why}"),
                PJRT_Error_Code::INTERNAL,
            ))
        }
        other => return Err(Error::internal(format!("the coordinator said {other:?}"))),
    };
    attempt.started(settings.process);
    static NEXT: AtomicI64 = AtomicI64::new(1);
    let mesh = Arc::new(Mesh {
        settings: settings.clone(),
        number: NEXT.fetch_add(1, Ordering::Relaxed),
        address,
        stream,
        sending: Mutex::new(()),
        door: Mutex::new(door),
        state: Mutex::new(State {
            peers: facts.into_iter().map(Peer::new).collect(),
            ..State::default()
        }),
        changed: Condvar::new(),
        opened: Instant::now(),
        may_connect: AtomicBool::new(false),
        launched: AtomicU64::new(0),
    });
    mesh.listen()?;
    Ok(mesh)
}

fn open_door(settings: &Settings, targets: &[SocketAddr]) -> Result<Option<Door>> {
    if settings.process != 0 {
        return Ok(None);
    }
    let (at, places) = match &settings.bind {
        None => (&settings.coordinator, targets.to_vec()),
        Some(at) => (at, addresses(at, "bind_address")?),
    };
    let listener = TcpListener::bind(&places[..]).map_err(|error| {
        let what = format!("process 0 cannot listen at {at}: {error}");
        if error.kind() == ErrorKind::AddrInUse {
            Error::exists(what)
        } else {
            Error::precondition(what)
        }
    })?;
    coordinator::open(listener, settings).map(Some)
}

/// A connection to the coordinator, which may come up later than this process.
fn reach(
    settings: &Settings,
    targets: &[SocketAddr],
    deadline: Instant,
    attempt: &Attempt,
) -> Result<TcpStream> {
    let mut pause = Duration::from_millis(10);
    loop {
        attempt.check()?;
        let mut why = None;
        for target in targets {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = left.clamp(Duration::from_millis(50), Duration::from_secs(5));
            match TcpStream::connect_timeout(target, limit) {
                Ok(stream) => {
                    // They only make it quicker, and end what hangs.
                    let _ = stream.set_nodelay(true);
                    let _ = stream.set_write_timeout(Some(Duration::from_secs(10)));
                    return Ok(stream);
                }
                Err(error) => why = Some(error),
            }
        }
        if Instant::now() >= deadline {
            let why = why.map_or_else(String::new, |error| format!(": {error}"));
            return Err(Error::unavailable(format!(
                "the coordinator at {} could not be reached within {} s{why}; process 0 must listen there",
                settings.coordinator,
                settings.limits.startup.as_secs()
            )));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(250));
    }
}

impl Peer {
    fn new(facts: Vec<String>) -> Self {
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
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends to the coordinator; whether it could. A connection that is lost is noticed by who listens.
    fn send(&self, message: &Message) -> bool {
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = message.send(&self.stream).is_ok();
        if !sent {
            // A part may have gone out, and nobody can make sense of what would come next.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        sent
    }

    /// Waits for what `look` finds.
    fn wait<T>(&self, limit: Duration, look: impl Fn(&State) -> Option<T>) -> Option<T> {
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

    fn listen(self: &Arc<Self>) -> Result<()> {
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
            Message::Met => state.agreed += 1,
            Message::Left(process) => {
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

    fn lost(self: &Arc<Self>, error: &std::io::Error) {
        let state = self.state();
        // A coordinator that has left is missed only where it is needed.
        if state.has_left || state.peers.first().is_some_and(|p| p.has_left) {
            return;
        }
        drop(state);
        let silent = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        self.broken(
            0,
            if silent {
                let limit = self.settings.limits.heartbeat.as_secs();
                format!("it gave no sign of life for {limit} s")
            } else {
                "its connection is closed: it ended or was killed".to_owned()
            },
        );
    }

    /// Notes why the processes cannot go on together, and ends what waits for the others.
    fn broken(self: &Arc<Self>, process: u32, why: String) {
        let mut state = self.state();
        if state.has_left || state.trouble.is_some() {
            return;
        }
        let coordinator = if process == 0 {
            ", the coordinator,"
        } else {
            ""
        };
        let who = if process == self.settings.process {
            format!("this process, number {process},")
        } else {
            format!("process {process}{coordinator}")
        };
        state.trouble = Some(format!("{who} is gone: {why}"));
        if let Some(peer) = state.peers.get_mut(process as usize) {
            peer.gone = Some(why);
        }
        drop(state);
        self.changed.notify_all();
        // What cannot be ended now ends by its time-out.
        let number = self.number;
        let _ = in_background("xlaffi-mesh-end", move || runtime::close(number));
    }

    /// The others cannot go on with this process: it has not taken its part.
    pub fn fail(self: &Arc<Self>, why: &str) {
        // Where it cannot be told, the connection is closed, which tells it too.
        self.send(&Message::Gone(self.settings.process, why.to_owned()));
        self.broken(self.settings.process, why.to_owned());
    }

    fn leave(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_left, true) {
            drop(state);
            let process = self.settings.process as usize;
            if self.send(&Message::Left(process as u32)) {
                // Passed on by a thread that the end of the process would end.
                self.wait(Duration::from_secs(1), |state| {
                    let known = state.peers[process].has_left || state.trouble.is_some();
                    known.then_some(())
                });
            }
            self.changed.notify_all();
            runtime::close(self.number);
        }
    }

    /// Leaves for good: no thread and no port of the mesh remains.
    pub fn part(&self) {
        self.leave();
        let _ = self.stream.shutdown(Shutdown::Both);
        let door = self
            .door
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(door);
    }

    fn status(&self) -> Status {
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

    /// Tells the others what this process is about to launch, and waits until all are about to launch the same, unless that
    /// is what they have launched at this point before: then `conclude()` will tell, and who launches something else waits here.
    /// So nothing is exchanged between different programs. Launches come one after the other.
    pub fn announce(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        self.check(&launch.parties)?;
        if !launch.exchanges {
            let mut state = self.state();
            state.course(launch).note(launch.digest);
            return Ok(());
        }
        self.agree(launch)?;
        let mut state = self.state();
        state.told += 1;
        let course = state.course(launch);
        let is_expected = course.go_on(launch.digest);
        let message = Message::Meet {
            key: launch.devices.clone(),
            parties: launch.parties.clone(),
            mark: course.mark(),
            what: launch.what.clone(),
        };
        drop(state);
        if !is_expected {
            let since = self.opened.elapsed().as_millis() as u64;
            self.launched.store(since, Ordering::Relaxed);
        }
        self.send(&message);
        if is_expected {
            return Ok(());
        }
        self.may_connect.store(true, Ordering::Release);
        self.agree(launch)
    }

    /// After the program has run here: waits until it is known that all have launched it.
    pub fn conclude(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        if !launch.exchanges {
            return Ok(());
        }
        self.agree(launch)?;
        if self.may_connect.swap(false, Ordering::AcqRel) {
            runtime::keep_from_children(self.number);
        }
        Ok(())
    }

    /// Waits until it is known that all processes launch what this one does.
    fn agree(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        let limit = self.settings.limits.collective;
        let is_agreed = |state: &State| {
            let agreed = (state.agreed >= state.told).then_some(Ok(()));
            agreed.or_else(|| refusal(state, &launch.parties).map(Err))
        };
        // Who carries what XLA tells needs Python's lock.
        let agreed = blocking(|| self.wait(limit, is_agreed));
        agreed.unwrap_or_else(|| {
            let limit = limit.as_secs();
            self.fail(&format!(
                "it has waited {limit} s for others to launch a program {}",
                launch.what
            ));
            Err(Error::deadline(format!(
                "the other processes did not launch the program within {limit} s"
            )))
        })
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

    /// Waits for what the others have told XLA, for a time that depends on how long ago a program was launched that was
    /// not expected: then XLA may have something to tell, and to ask it costs as much as a short program. `None` when it
    /// is over.
    pub fn fresh(&self) -> Option<Vec<(String, Vec<u8>)>> {
        let launched = Duration::from_millis(self.launched.load(Ordering::Relaxed));
        let idle = self.opened.elapsed().saturating_sub(launched);
        let pause = match idle.as_secs() {
            0..=4 => 10,
            5..=60 => 100,
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

fn refusal(state: &State, parties: &[u32]) -> Option<Error> {
    if let Some(trouble) = &state.trouble {
        return Some(Error::unavailable(format!(
            "programs over several processes cannot be run any more: {trouble}"
        )));
    }
    if state.has_left {
        return Some(Error::precondition("this process has left the mesh"));
    }
    let has_left = |p: &&u32| state.peers.get(**p as usize).is_some_and(|p| p.has_left);
    // Without the coordinator nobody knows whether all launch the same.
    let left = [0].iter().chain(parties).find(has_left)?;
    let who = if *left == 0 { ", the coordinator," } else { "" };
    Some(Error::unavailable(format!(
        "process {left}{who} has left the mesh"
    )))
}
