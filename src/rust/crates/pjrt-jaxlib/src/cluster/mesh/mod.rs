//! The processes that compute together. XLA has a coordination service of its own, whose clients end their process when the
//! service, another process or the start fails, and cannot be told not to. So each process gives XLA a service of its own,
//! in the same process and for this one alone, and the few texts that XLA puts there are carried to the others'.
//!
//! `wire` is what the processes say, `coordinator` is process 0's side, `member` everybody's, `launch_log` what two of them
//! launch, `code` what their programs call, `cancel` what can be given up before all have come, `signal` what writes to closed connections must not do, and
//! `runtime` XLA's.

mod cancel;
mod code;
mod coordinator;
mod launch_log;
mod member;
mod runtime;
mod signal;
mod start;
mod wire;

pub use cancel::CancelToken;
pub(crate) use code::Called;
pub use code::{compare_code_by, CodeOf};
pub(crate) use launch_log::{digest, Launch};
pub use member::{leave, status, Peer, Status};
pub(crate) use member::{part, Exchanging, Mesh};
pub(crate) use start::start;

use crate::python::flags::{collective_seconds, set_collective_seconds};
use std::time::Duration;

/// How many seconds collectives shall wait for other processes, which XLA must know before it is loaded: says whether it
/// will, or does.
pub fn collectives_wait(seconds: u64) -> bool {
    if crate::python::compat::started().is_some() {
        return collective_seconds() == Some(seconds);
    }
    set_collective_seconds(seconds);
    true
}

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub startup: Duration,
    pub heartbeat: Duration,
    pub collective: Duration,
}

impl Limits {
    /// The time between two signs of life.
    fn beat(&self) -> Duration {
        (self.heartbeat / 4).min(Duration::from_millis(500))
    }
}

/// What a mesh is made with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub coordinator: String,
    /// Who has another name for it belongs to others; empty: nobody has said.
    pub job: String,
    pub bind: Option<String>,
    pub address: Option<String>,
    pub process: u32,
    pub processes: u32,
    pub collectives: Collectives,
    pub limits: Limits,
}

/// Who carries the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collectives {
    Gloo,
    Mpi,
}

impl Collectives {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gloo => "gloo",
            Self::Mpi => "mpi",
        }
    }
}
