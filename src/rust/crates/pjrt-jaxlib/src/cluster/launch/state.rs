//! What the launching thread has to do, and what it is at.

use crate::base::error::{Error, Result};
use crate::cluster::guard::Registered;
use crate::python::compat::Jaxlib;
use crate::python::object::Object;
use crate::run::signal::Signal;
use crate::run::state::Run;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::ThreadId;

/// A launch to be done.
pub(super) struct Job {
    pub run: Arc<Run>,
    /// Set when it is given up, and by the launching thread when it is launched.
    pub caller: Arc<Signal>,
    pub launch: Box<dyn FnOnce(i64) -> Result<Object> + Send>,
}

pub(super) enum Task {
    Launch(Job),
    /// Waits for the last run, and tells.
    End(Arc<Signal>),
}

/// A run that was launched.
pub(super) struct Flight {
    /// Tells when all devices are through.
    pub token: Object,
    pub run: Arc<Run>,
    pub _registered: Registered,
}

impl Flight {
    pub fn end(self, jax: &Jaxlib) {
        if let Ok(gil) = jax.gil() {
            // Results and events tell of errors.
            let _ = gil.method0(&self.token, &jax.block_until_ready);
        }
        self.run.settle();
    }
}

#[derive(Default)]
pub(super) struct State {
    pub thread: Option<ThreadId>,
    /// Whether there is a watching thread.
    pub is_watched: bool,
    pub tasks: VecDeque<Task>,
    pub is_closed: bool,
    pub under_way: Option<UnderWay>,
    /// How many runs have been under way.
    pub number: u64,
    /// Whether the watching thread waits until something is under way.
    pub nobody_watches: bool,
    pub stuck: Option<Stuck>,
}

/// What XLA is at.
#[derive(Clone)]
pub(super) struct UnderWay {
    pub number: u64,
    pub run: Arc<Run>,
    /// Who waits for the thread that launches until it comes back from that run.
    pub caller: Option<Arc<Signal>>,
    /// Whether that is for the next launch: then its error is not the caller's.
    pub is_launched: bool,
}

/// A run that was given up.
pub(super) struct Stuck {
    /// The words that it has failed, and why, before others; empty where it has not.
    pub failed: String,
    /// What became of the devices, in words.
    pub devices: String,
    /// Ids of those that are not known to have ended.
    pub lost: Vec<i64>,
    pub program: String,
}

impl Stuck {
    /// The error of further programs over several devices.
    pub fn refusal(&self) -> Error {
        Error::precondition(format!(
            "no program over several devices can be started: `{}` {}was given up, and its devices have not come back ({})",
            self.program, self.failed, self.devices
        ))
    }
}
