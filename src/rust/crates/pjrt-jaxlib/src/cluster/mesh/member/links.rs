//! The connections between each two processes, over which they tell each other what they launch: on the way through the
//! coordinator four more threads would have to wake up for each launch.

use super::link::Link;
use super::mesh::Mesh;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::wire::{Message, Until};
use std::fmt::Display;
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// What nobody guesses.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Who connects has so long to say who it is. One that belongs here speaks at once, unless it is stopped, or swapped out;
/// the others stand in line behind one that says nothing.
const GREETING: Duration = Duration::from_secs(5);

/// Which of the processes it is that has connected; nothing where it is none.
fn admit(stream: &TcpStream, secret: &str, limit: Duration) -> io::Result<Option<u32>> {
    let deadline = Instant::now() + limit;
    stream.set_nonblocking(false)?;
    let said = Message::receive(Until(stream, deadline), 256)?;
    Ok(match said {
        Message::Link(process, known) if known == secret => Some(process),
        _ => None,
    })
}

impl Mesh {
    /// Connects this process with all others: it goes to those before it, and those after it come. Nobody can come in later.
    pub fn link(&self) -> Result<()> {
        let wrong = |why: &dyn Display| {
            Error::unavailable(format!(
                "this process cannot be connected with the others: {why}"
            ))
        };
        let lost = |error: io::Error| wrong(&error);
        let (here, all) = (self.settings.process, self.settings.processes);
        let deadline = Instant::now() + self.settings.limits.startup;
        let secret = secret().map_err(lost)?;
        let listener = TcpListener::bind((self.address, 0)).map_err(lost)?;
        listener.set_nonblocking(true).map_err(lost)?;
        let port = listener.local_addr().map_err(lost)?.port();
        let key = |process: u32| format!("link/{process}");
        self.set(&key(here), format!("{port} {secret}").into_bytes());
        let mut streams: Vec<Option<TcpStream>> = (0..all).map(|_| None).collect();
        for (process, place) in (0..here).zip(&mut streams) {
            let text = String::from_utf8(self.get(&key(process))?);
            let address: Option<IpAddr> = self.state().peers[process as usize].address.parse().ok();
            let parts = text.ok().and_then(|text| {
                let (port, secret) = text.split_once(' ')?;
                Some(((address?, port.parse().ok()?).into(), secret.to_owned()))
            });
            let (at, secret) =
                parts.ok_or_else(|| wrong(&format!("where process {process} listens")))?;
            let left = deadline.saturating_duration_since(Instant::now());
            let stream = TcpStream::connect_timeout(&at, left.max(Duration::from_millis(1)));
            let stream = stream.map_err(lost)?;
            let hello = Message::Link(here, secret);
            hello.send(&stream).map_err(lost)?;
            *place = Some(stream);
        }
        let processes: Vec<u32> = (0..all).collect();
        while streams[here as usize + 1..].iter().any(Option::is_none) {
            match listener.accept() {
                Ok((stream, _)) => {
                    let process = admit(&stream, &secret, GREETING).ok().flatten();
                    let later = process.filter(|process| *process > here);
                    if let Some(place) = later.and_then(|later| streams.get_mut(later as usize)) {
                        place.get_or_insert(stream);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.check(&processes)?;
                    if Instant::now() >= deadline {
                        return Err(wrong(&"another process did not come in time"));
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                // Who has left again, before it was let in.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::ConnectionAborted
                            | ErrorKind::ConnectionReset
                            | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(lost(error)),
            }
        }
        let limit = self.settings.limits.collective;
        let links = streams.into_iter().map(|stream| {
            let link = stream.map(|stream| Link::new(stream, limit));
            link.transpose().map_err(lost)
        });
        let _ = self.links.set(links.collect::<Result<_>>()?);
        Ok(())
    }

    /// The connection to a process.
    pub(super) fn link_to(&self, process: u32) -> Result<&Link> {
        let links = self.links.get();
        let link = links.and_then(|links| links.get(process as usize)?.as_ref());
        link.ok_or_else(|| Error::internal(format!("there is no connection to process {process}")))
    }

    pub(super) fn close_links(&self) {
        let links = self.links.get().into_iter().flatten().flatten();
        links.for_each(Link::close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_secret_is_let_in() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let admitted = |limit: Duration, say: &dyn Fn(&TcpStream)| {
            let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            say(&caller);
            let (stream, _) = listener.accept().unwrap();
            admit(&stream, "known", limit).ok().flatten()
        };
        let hello = |secret: &str| {
            let hello = Message::Link(3, secret.to_owned());
            move |stream: &TcpStream| hello.send(stream).unwrap()
        };
        assert_eq!(admitted(GREETING, &hello("known")), Some(3));
        assert_eq!(admitted(GREETING, &hello("guessed")), None);
        let beat = |stream: &TcpStream| Message::Beat.send(stream).unwrap();
        assert_eq!(admitted(GREETING, &beat), None);
        // Who says nothing is not waited for.
        let little = Duration::from_millis(10);
        assert_eq!(admitted(little, &|_stream| ()), None);
    }

    #[test]
    fn who_speaks_late_is_let_in() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(1500));
                Message::Link(1, "known".to_owned()).send(&caller).unwrap();
            });
            assert_eq!(admit(&stream, "known", GREETING).unwrap(), Some(1));
        });
    }

    #[test]
    fn secrets_differ() {
        assert_eq!(secret().unwrap().len(), 32);
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}
