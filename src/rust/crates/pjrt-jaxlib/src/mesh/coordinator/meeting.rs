//! Where processes tell what they are about to launch.

use super::State;
use crate::mesh::wire::Message;

pub(super) struct Meeting {
    pub parties: Vec<u32>,
    pub mark: u64,
    pub what: String,
    pub here: Vec<u32>,
}

impl State {
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

    /// A process is about to launch what all parties must.
    pub(super) fn meet(&mut self, process: u32, key: String, came: Meeting) {
        if let Some(why) = self.mismatch(process, &key, &came) {
            return self.tell(&Message::Gone(process, why), None);
        }
        let meeting = self.meetings.entry(key.clone()).or_insert(came);
        meeting.here.push(process);
        if meeting.parties.iter().all(|p| meeting.here.contains(p)) {
            if let Some(meeting) = self.meetings.remove(&key) {
                self.tell_those(&Message::Met, |process| meeting.parties.contains(&process));
            }
        }
    }
}
