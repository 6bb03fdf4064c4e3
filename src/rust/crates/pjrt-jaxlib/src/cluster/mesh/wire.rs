//! What the processes of a mesh say to each other: frames of a length, a kind and fields.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A message. All but the last two go to the coordinator or come from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The first of a process: its number, how many it was told there are, what it belongs to, the versions it runs, and
    /// who it is.
    Hello {
        process: u32,
        processes: u32,
        job: String,
        version: String,
        facts: Vec<String>,
    },
    /// The process cannot take part: a code and why.
    Refused(String, String),
    /// All have come: their facts.
    Start(Vec<Vec<String>>),
    /// What the others shall know under a key.
    Set(String, Vec<u8>),
    /// A process cannot go on with the others, and why.
    Gone(u32, String),
    /// A process has left as it should.
    Left(u32),
    /// A sign of life.
    Beat,
    /// The first of a process to another one: its number, and what only processes of the mesh know.
    Link(u32, String),
    /// The process launches a program: the mark of all that it has launched with the other one, its shapes, and what was
    /// called since the last one.
    Launch(u64, String, Vec<String>),
}

/// Larger frames are nobody's of ours.
pub(super) const LARGEST: usize = 16 << 20;

/// Who connects has so long to say who it is, and so long to take what it is sent.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Reads until a moment, however little comes at a time.
pub(super) struct Until<'a>(pub &'a TcpStream, pub Instant);

impl Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.0.set_read_timeout(Some(left))?;
        self.0.read(into)
    }
}

struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: usize) -> &mut Self {
        self.0.extend((number as u32).to_le_bytes());
        self
    }

    fn long(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len()).0.extend(bytes);
        self
    }

    fn texts(&mut self, texts: &[String]) -> &mut Self {
        self.number(texts.len());
        for text in texts {
            self.bytes(text.as_bytes());
        }
        self
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*head))
    }

    fn long(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.number()? as usize;
        let bytes = self.0.get(..length)?.to_vec();
        self.0 = &self.0[length..];
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?).ok()
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| item(self)).collect()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        self.list(Self::text)
    }
}

impl Message {
    fn encode(&self) -> Vec<u8> {
        let mut f = Fields(vec![0; 4]);
        match self {
            Self::Hello {
                process,
                processes,
                job,
                version,
                facts,
            } => {
                f.0.push(0);
                f.number(*process as usize).number(*processes as usize);
                f.bytes(job.as_bytes());
                f.bytes(version.as_bytes()).texts(facts);
            }
            Self::Refused(code, why) => {
                f.0.push(1);
                f.bytes(code.as_bytes()).bytes(why.as_bytes());
            }
            Self::Start(facts) => {
                f.0.push(2);
                f.number(facts.len());
                for facts in facts {
                    f.texts(facts);
                }
            }
            Self::Set(key, value) => {
                f.0.push(3);
                f.bytes(key.as_bytes()).bytes(value);
            }
            Self::Gone(process, why) => {
                f.0.push(4);
                f.number(*process as usize).bytes(why.as_bytes());
            }
            Self::Left(process) => {
                f.0.push(5);
                f.number(*process as usize);
            }
            Self::Beat => f.0.push(6),
            Self::Link(process, secret) => {
                f.0.push(7);
                f.number(*process as usize).bytes(secret.as_bytes());
            }
            Self::Launch(mark, what, code) => {
                f.0.push(8);
                f.long(*mark).bytes(what.as_bytes()).texts(code);
            }
        }
        let length = (f.0.len() - 4) as u32;
        f.0[..4].copy_from_slice(&length.to_le_bytes());
        f.0
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let mut r = Reader(rest);
        let message = match kind {
            0 => Self::Hello {
                process: r.number()?,
                processes: r.number()?,
                job: r.text()?,
                version: r.text()?,
                facts: r.texts()?,
            },
            1 => Self::Refused(r.text()?, r.text()?),
            2 => Self::Start(r.list(Reader::texts)?),
            3 => Self::Set(r.text()?, r.bytes()?),
            4 => Self::Gone(r.number()?, r.text()?),
            5 => Self::Left(r.number()?),
            6 => Self::Beat,
            7 => Self::Link(r.number()?, r.text()?),
            8 => Self::Launch(r.long()?, r.text()?, r.texts()?),
            _ => return None,
        };
        r.0.is_empty().then_some(message)
    }

    /// Sends it as one piece.
    pub fn send(&self, mut to: impl Write) -> Result<()> {
        to.write_all(&self.encode())
    }

    /// Reads the next one, of at most so many bytes.
    pub fn receive(mut from: impl Read, largest: usize) -> Result<Self> {
        let stray = || Error::new(ErrorKind::InvalidData, "this is no process of ours");
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > largest {
            return Err(stray());
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        Self::decode(&bytes).ok_or_else(stray)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_were_sent() {
        let text = |t: &str| t.to_owned();
        let messages = [
            Message::Hello {
                process: 1,
                processes: 2,
                job: text("j"),
                version: text("v"),
                facts: vec![text("a"), text("")],
            },
            Message::Refused(text("ALREADY_EXISTS"), text("no")),
            Message::Start(vec![vec![text("a")], vec![]]),
            Message::Set(text("k"), vec![0, 255]),
            Message::Gone(3, text("why")),
            Message::Left(2),
            Message::Beat,
            Message::Link(1, text("s")),
            Message::Launch(u64::MAX - 1, text("w"), vec![text("c")]),
        ];
        let mut bytes = Vec::new();
        for message in &messages {
            message.send(&mut bytes).unwrap();
        }
        let mut from = &bytes[..];
        for message in &messages {
            assert_eq!(&Message::receive(&mut from, LARGEST).unwrap(), message);
        }
        assert!(Message::receive(&mut from, LARGEST).is_err());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let read = |bytes: &[u8]| Message::receive(bytes, 64).map_err(|e| e.kind());
        assert_eq!(read(b"GET / HTTP/1.1\r\n\r\n"), Err(ErrorKind::InvalidData));
        assert_eq!(read(&[1, 0, 0, 0, 99]), Err(ErrorKind::InvalidData));
        // A list that is longer than the frame.
        assert_eq!(
            read(&[5, 0, 0, 0, 2, 255, 255, 255, 255]),
            Err(ErrorKind::InvalidData)
        );
        assert_eq!(read(&[2, 0, 0, 0, 6, 0]), Err(ErrorKind::InvalidData));
        assert_eq!(read(&[65, 0, 0, 0]), Err(ErrorKind::InvalidData));
        assert_eq!(read(&[1, 0, 0, 0, 6]), Ok(Message::Beat));
    }
}
