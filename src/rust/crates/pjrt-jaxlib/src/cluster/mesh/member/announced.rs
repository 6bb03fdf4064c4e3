//! What a process has announced.

use crate::cluster::mesh::launch_log::LaunchLog;
use std::collections::HashMap;

/// What this process has told the others of its launches.
#[derive(Default)]
pub(super) struct Announced {
    /// What was launched together with which process.
    pub logs: HashMap<u32, LaunchLog>,
    /// Who has not told what it launches: the mark that it must tell, and what was called here.
    pub unheard: Vec<(u32, u64, Vec<String>)>,
    /// The shapes of the last program.
    pub what: String,
}

impl Announced {
    pub fn log(&mut self, other: u32) -> &mut LaunchLog {
        self.logs.entry(other).or_default()
    }
}
