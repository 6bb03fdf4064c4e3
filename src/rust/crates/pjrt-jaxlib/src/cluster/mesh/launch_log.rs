//! What a process launches together with another one, and in which order.

use super::code::Called;
use std::collections::HashMap;

/// A program over several processes, as they tell each other of it.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Ids of its devices.
    pub devices: String,
    /// The processes that they belong to.
    pub parties: Vec<u32>,
    /// The same for the same program in all of them.
    pub digest: u64,
    /// Its shapes.
    pub what: String,
    /// What it calls, each once.
    pub calls: Vec<Called>,
    /// Whether the devices exchange anything.
    pub exchanges: bool,
}

impl Launch {
    /// What it calls, and what that is made of now.
    pub fn code(&self) -> Vec<String> {
        self.calls.iter().map(Called::text).collect()
    }

    /// The same for the same program on the same devices, which calls the same.
    pub fn step(&self, code: &[String]) -> u64 {
        let digest = self.digest.to_le_bytes();
        let parts = [self.devices.as_bytes(), &digest];
        let code = code.iter().flat_map(|text| [text.as_bytes(), b"\n"]);
        digest_of(parts.into_iter().chain(code))
    }
}

/// The launches in which two processes take part. Both have the same where they launch the same.
#[derive(Debug, Default)]
pub(super) struct LaunchLog {
    mark: u64,
    last: u64,
    /// What followed on what, the last time.
    next: HashMap<u64, u64>,
    /// What was called by those of which the other one has not been told yet.
    code: Vec<String>,
}

impl LaunchLog {
    /// Notes a launch of what calls `code`, also one that exchanges nothing: it is right whatever others launch, but what it
    /// gives is what later ones compute with.
    pub fn note(&mut self, digest: u64, code: &[String]) {
        for text in code {
            if !self.code.contains(text) {
                self.code.push(text.clone());
            }
        }
        self.mark = digest_of([&self.mark.to_le_bytes()[..], &digest.to_le_bytes()]);
    }

    /// Notes a launch; whether it is the one that both expect now.
    pub fn go_on(&mut self, digest: u64, code: &[String]) -> bool {
        self.note(digest, code);
        let before = std::mem::replace(&mut self.last, digest);
        self.next.insert(before, digest) == Some(digest)
    }

    /// What was called since this was asked the last time.
    pub fn take_code(&mut self) -> Vec<String> {
        std::mem::take(&mut self.code)
    }

    /// Of all launches so far.
    pub fn mark(&self) -> u64 {
        self.mark
    }
}

/// 64 bits of some bytes (FNV-1a).
fn digest_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for &byte in part {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// 64 bits of a program's text or bytes, without what differs between processes: the numbers of ops of the user's own. What
/// these are made of [`Launch::code`] tells.
pub(crate) fn digest(code: &[u8], partitions: usize) -> u64 {
    const NUMBER: &[u8] = b"\"xlaffi.op\" = ";
    let mut rest = code;
    let mut parts = Vec::new();
    while let Some(at) = rest.windows(NUMBER.len()).position(|w| w == NUMBER) {
        let (before, number) = rest.split_at(at + NUMBER.len());
        parts.push(before);
        let length = number
            .iter()
            .take_while(|b| b.is_ascii_digit() || **b == b'-');
        rest = &number[length.count()..];
    }
    let partitions = (partitions as u64).to_le_bytes();
    parts.extend([rest, &partitions]);
    digest_of(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_next_the_last_time_is_expected() {
        let mut log = LaunchLog::default();
        let expected: Vec<bool> = [1, 2, 1, 2, 2, 2, 1]
            .map(|digest| log.go_on(digest, &[]))
            .to_vec();
        assert_eq!(expected, [false, false, false, true, false, true, false]);
    }

    #[test]
    fn what_was_called_is_reported_once() {
        let mut log = LaunchLog::default();
        let code = |text: &str| vec![text.to_owned()];
        log.note(1, &code("a"));
        log.note(2, &code("b"));
        log.go_on(1, &code("a"));
        assert_eq!(log.take_code(), ["a", "b"]);
        log.go_on(1, &[]);
        assert!(log.take_code().is_empty());
    }

    #[test]
    fn marks_differ_where_launches_or_their_order_do() {
        let mark = |digests: &[u64]| {
            let mut log = LaunchLog::default();
            digests.iter().for_each(|digest| log.note(*digest, &[]));
            log.mark()
        };
        assert_eq!(mark(&[1, 2]), mark(&[1, 2]));
        assert_ne!(mark(&[1, 2]), mark(&[2, 1]));
        assert_ne!(mark(&[1, 2]), mark(&[1, 2, 2]));
    }

    #[test]
    fn numbers_of_functions_are_left_out() {
        let program = |number: &str, by: &str| {
            let text = format!("a {{\"xlaffi.op\" = {number} : i64}} * {by}");
            digest(text.as_bytes(), 1)
        };
        assert_eq!(program("12", "2"), program("-7", "2"));
        assert_ne!(program("12", "2"), program("12", "3"));
    }
}
