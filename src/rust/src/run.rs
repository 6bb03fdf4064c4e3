//! `xlaffi_run`: a compilation or execution that is under way on another thread.

use std::sync::Arc;
use std::time::Duration;

use extendr_ffi::{R_NilValue, SEXP};
use pjrt::Buffer;

use crate::entry::routines;
use crate::executable::{outputs_to_r, ExecutableObject};
use crate::failure::Outcome;
use crate::pointer::{class, get, wrap};
use crate::worker::{self, Pending};

/// What a run ends with.
pub enum Done {
    /// A compiled program.
    Compiled(ExecutableObject),
    /// The results of an execution, and the platform that they are on.
    Executed(Vec<Buffer>, Arc<str>),
}

impl Done {
    /// The R object, not protected.
    pub fn into_sexp(self) -> SEXP {
        match self {
            Done::Compiled(executable) => wrap(executable),
            Done::Executed(outputs, platform) => outputs_to_r(outputs, &platform),
        }
    }
}

/// A compilation or execution under way.
pub struct Run {
    pending: Pending<Done>,
}

class!(Run, c"xlaffi_run", "a run under way");

impl Run {
    /// Starts it.
    pub fn start(work: impl FnOnce() -> Outcome<Done> + Send + 'static) -> Outcome<Self> {
        Ok(Run {
            pending: worker::start(work)?,
        })
    }

    /// The end, if it comes within `limit`. It is given once.
    pub fn wait(&self, limit: Duration) -> Option<Outcome<Done>> {
        self.pending.wait(limit)
    }
}

routines! {
    // The result if it comes within `seconds`, else NULL.
    fn run_wait(run, seconds: f64) {
        let run: &Run = get(run, "run")?;
        match run.wait(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))) {
            Some(done) => Ok(done?.into_sexp()),
            // SAFETY: a constant of R.
            None => Ok(unsafe { R_NilValue }),
        }
    }
}
