//! How a process comes in.

use super::mesh::Mesh;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::cancel::CancelToken;
use crate::cluster::mesh::coordinator;
use crate::cluster::mesh::coordinator::Listener;
use crate::cluster::mesh::wire::{Message, LARGEST};
use crate::cluster::mesh::Settings;
use pjrt_api::PJRT_Error_Code;
use std::fmt::Display;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
pub(in crate::cluster::mesh) fn join(
    settings: &Settings,
    version: String,
    host: &str,
    devices: i64,
    cancel: &CancelToken,
) -> Result<Arc<Mesh>> {
    let targets = addresses(&settings.coordinator, "coordinator_address")?;
    if targets.iter().any(|a| a.ip().is_unspecified()) {
        return Err(Error::invalid(format!(
            "option `coordinator_address` must be an address that the other processes can reach, got `{}`",
            settings.coordinator
        )));
    }
    let deadline = Instant::now() + settings.limits.startup;
    let listener = open_listener(settings, &targets)?;
    // Process 0 may listen elsewhere than where the others reach it, and is reached there by itself.
    let place = listener.as_ref().and_then(Listener::place);
    let targets = place.map_or(targets, |at| vec![at]);
    let stream = reach(settings, &targets, deadline, cancel)?;
    cancel.connected(&stream)?;
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
    cancel.check()?;
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
    cancel.started(settings.process);
    let mesh = Arc::new(Mesh::new(settings, address, stream, listener, facts));
    mesh.listen()?;
    Ok(mesh)
}

fn open_listener(settings: &Settings, targets: &[SocketAddr]) -> Result<Option<Listener>> {
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
    cancel: &CancelToken,
) -> Result<TcpStream> {
    let mut pause = Duration::from_millis(10);
    loop {
        cancel.check()?;
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
