//! `xlaffi_run`: a compilation, an execution or a search that is under way on another thread.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use extendr_ffi::{R_NilValue, SEXP};
use pjrt::{Buffer, Client};
use pjrt_jaxlib::mesh::CancelToken;
use pjrt_jaxlib::python::Report;

use crate::host::client::ClientObject;
use crate::host::executable::ExecutableObject;
use crate::host::parts::outputs_to_r;
use crate::host::report::report_to_r;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::memory;
use crate::r::pointer::{class, get, wrap};
use crate::runtime::abandon::{of_run, Abandon};
use crate::runtime::serve::while_serving;
use crate::runtime::worker::{self, Pending};

/// What a run ends with.
pub enum Done {
    /// A compiled program.
    Compiled(ExecutableObject),
    /// The results of an execution on each device, the platform that they are on, and whether they come in lists.
    Executed(Vec<Vec<Buffer>>, Arc<str>, bool),
    /// What was found of Python.
    Looked(Report),
    /// A client for several processes, and its platform.
    Joined(Client, String),
}

impl Done {
    /// The R object, not protected.
    pub fn into_sexp(self) -> SEXP {
        match self {
            Done::Compiled(executable) => {
                executable.called.be_served();
                wrap(executable)
            }
            Done::Executed(outputs, platform, in_lists) => {
                outputs_to_r(outputs, &platform, in_lists)
            }
            Done::Looked(report) => report_to_r(&report),
            Done::Joined(client, platform) => wrap(ClientObject::first(client, &platform)),
        }
    }
}

/// What a run goes over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// One device, or none.
    One,
    /// Several devices of this process, or of this one and others.
    Devices,
    /// One device of this process and those of others. The run is through when it comes back, which takes the messages of
    /// the processes.
    Processes,
}

/// What a run does.
#[derive(Clone)]
struct Work {
    execute: Arc<dyn Fn() -> Outcome<Done> + Send + Sync>,
    over: Over,
}

/// A compilation, execution or search under way.
pub struct Run {
    /// None: nobody waits for it any more.
    pending: RefCell<Option<Pending<Done>>>,
    /// To be done once more where memory was short.
    again: RefCell<Option<Work>>,
    abandon: Abandon,
    /// Of a process that joins others.
    cancel: Option<CancelToken>,
}

class!(Run, c"xlaffi_run", "a run under way");

impl Run {
    /// Starts it; where memory is short, it may be done twice.
    pub fn start(work: impl Fn() -> Outcome<Done> + Send + Sync + 'static) -> Outcome<Self> {
        Run::execution(Over::One, false, work)
    }

    /// Starts an execution, to be done once or twice.
    pub fn execution(
        over: Over,
        once: bool,
        work: impl Fn() -> Outcome<Done> + Send + Sync + 'static,
    ) -> Outcome<Self> {
        let work = Work {
            execute: Arc::new(work),
            over,
        };
        let run = Run::launched(&work)?;
        run.again.replace((!once).then_some(work));
        Ok(run)
    }

    /// Starts it, to be done once whatever happens.
    pub fn start_once(work: impl Fn() -> Outcome<Done> + Send + Sync + 'static) -> Outcome<Self> {
        Run::execution(Over::One, true, work)
    }

    /// Starts to join other processes.
    pub fn join(
        cancel: CancelToken,
        work: impl Fn() -> Outcome<Done> + Send + Sync + 'static,
    ) -> Outcome<Self> {
        let mut run = Run::start_once(work)?;
        run.cancel = Some(cancel);
        Ok(run)
    }

    fn launched(work: &Work) -> Outcome<Self> {
        let abandon = Abandon::default();
        Ok(Run {
            pending: RefCell::new(Some(launch(work, &abandon)?)),
            again: RefCell::new(None),
            abandon,
            cancel: None,
        })
    }

    /// Starts a search of Python.
    pub fn look() -> Outcome<Self> {
        let look = || Ok(Done::Looked(pjrt_jaxlib::python::find()));
        Ok(Run {
            pending: RefCell::new(Some(worker::start_alone(look)?)),
            again: RefCell::new(None),
            abandon: Abandon::default(),
            cancel: None,
        })
    }

    /// The end, if it comes within `limit`. It is given once. Where memory was short, R collects and
    /// the work is done once more. Programs that need R are served meanwhile.
    pub fn wait(&self, limit: Duration) -> Option<Outcome<Done>> {
        let waited = while_serving(limit, |left| match &*self.pending.borrow() {
            Some(pending) => Ok(pending.wait(left)),
            None => Err(Failure::new("CANCELLED", "nobody waits for it any more")),
        });
        let done = match waited {
            Ok(done) => done?,
            Err(failure) => return Some(Err(failure)),
        };
        let again = self.again.take();
        match (done, again) {
            (Err(failure), Some(work)) if memory::is_exhausted(&failure) => {
                memory::make_room();
                match launch(&work, &self.abandon) {
                    Ok(pending) => {
                        self.pending.replace(Some(pending));
                        None
                    }
                    Err(failure) => Some(Err(failure)),
                }
            }
            (done, _) => Some(done),
        }
    }

    fn give_up(&self) {
        self.abandon.now();
        if let Some(cancel) = &self.cancel {
            cancel.give_up();
            // A client that was made meanwhile, or will be, leaves the others.
            self.pending.take();
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.give_up();
    }
}

fn launch(work: &Work, abandon: &Abandon) -> Outcome<Pending<Done>> {
    let (execute, abandoned) = (work.execute.clone(), abandon.flag().clone());
    let execute = move || of_run(&abandoned, || execute());
    match main_thread::is_serving() {
        true => worker::start_afresh(execute),
        false if work.over != Over::One => {
            worker::start_launching(execute, work.over == Over::Devices)
        }
        false => worker::start(execute),
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

    // R waits for it no more.
    fn run_abandon(run) {
        let run: &Run = get(run, "run")?;
        run.give_up();
        Ok(())
    }
}
