//! Work that may take long, off R's thread: R waits in short turns and can be interrupted.
//!
//! XLA's CPU client runs programs that it takes for cheap on the caller's thread, and a loop or a
//! custom call counts as cheap however long it runs. An interrupted wait leaves the work to its
//! thread, which drops the result.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::leave::Working;
use crate::r::failure::{panicked, Failure, Outcome};
use pjrt_jaxlib::{expendable, leave_signals, look_for, LAUNCHING_THREAD};

/// Work that calls what it is given when it is through, just before it tells.
type Job = Box<dyn FnOnce(&dyn Fn()) + Send>;

/// Threads without work. A thread that is busy with abandoned work is not among them.
type Idle = Mutex<Vec<Sender<Job>>>;

static IDLE: Idle = Mutex::new(Vec::new());

/// Those that launch programs over several devices.
static LAUNCHING: Idle = Mutex::new(Vec::new());

/// As much as R's own thread has: handlers run here.
const STACK: usize = 16 << 20;

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is one of these threads, of which there are as many as are needed, and none that launches programs
/// over several devices.
pub fn is_here() -> bool {
    HERE.get()
}

/// A result that is not there yet.
pub struct Pending<T> {
    slot: Arc<Slot<T>>,
    /// Whether it may come so soon that a thread looks for it before it sleeps.
    may_be_soon: bool,
}

/// A place for one result.
struct Slot<T>(Mutex<Option<Outcome<T>>>);

impl<T> Slot<T> {
    /// The first result that comes is the one.
    fn fill(&self, result: Outcome<T>) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(result);
        drop(slot);
        main_thread::wake();
    }
}

/// `work` as a job, and where its result will be.
fn job<T: Send + 'static>(work: impl FnOnce() -> Outcome<T> + Send + 'static) -> (Job, Pending<T>) {
    let slot = Arc::new(Slot(Mutex::default()));
    let pending = Pending {
        slot: slot.clone(),
        may_be_soon: true,
    };
    let working = Working::new();
    let job = move |is_through: &dyn Fn()| {
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|p| Err(panicked(&*p)));
        drop(working);
        is_through();
        slot.fill(result);
    };
    (Box::new(job), pending)
}

/// Starts `work`, which has nothing to do with XLA, on a thread that ends with it: processes forked
/// later do not miss that thread.
pub fn start_alone<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<Pending<T>> {
    let (job, pending) = job(work);
    let thread = std::thread::Builder::new().name("xlaffi-look".into());
    let alone = move || {
        leave_signals();
        job(&|| ());
    };
    match thread.spawn(alone) {
        Ok(_) => Ok(pending),
        Err(_) => Err(no_thread()),
    }
}

/// Starts `work` on a thread that launched no program before: XLA runs those of one thread in order,
/// and one that waits for R would keep another from starting that R waits for.
pub fn start_afresh<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<Pending<T>> {
    let (job, pending) = job(work);
    fork::started();
    let thread = std::thread::Builder::new()
        .name("xlaffi-inner".into())
        .stack_size(STACK);
    let alone = move || {
        leave_signals();
        HERE.set(true);
        job(&|| ());
    };
    match thread.spawn(alone) {
        Ok(_) => Ok(pending),
        Err(_) => Err(no_thread()),
    }
}

fn no_thread() -> Failure {
    Failure::new("RESOURCE_EXHAUSTED", "no thread can be started")
}

/// Starts `work` on another thread.
pub fn start<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<Pending<T>> {
    let (job, pending) = job(work);
    start_on(&IDLE, "xlaffi", true, job)?;
    Ok(pending)
}

/// Starts `work` that runs a program over several devices, on a thread that may call XLA for that itself: where the
/// run is given up, the result is that error, and the thread is lost. Where it does not come soon, R's thread leaves its
/// processor to others at once.
pub fn start_launching<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
    may_be_soon: bool,
) -> Outcome<Pending<T>> {
    let (job, mut pending) = job(work);
    pending.may_be_soon = may_be_soon;
    let slot = pending.slot.clone();
    let job = move |is_through: &dyn Fn()| {
        expendable(
            move |error| slot.fill(Err(error.into())),
            || job(is_through),
        );
    };
    start_on(&LAUNCHING, LAUNCHING_THREAD, false, Box::new(job))?;
    Ok(pending)
}

/// Has an idle thread do the job, or a new one; `is_here` of these.
fn start_on(threads: &'static Idle, name: &str, is_here: bool, mut job: Job) -> Outcome<()> {
    let idle = || threads.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(worker) = idle().pop() else { break };
        match worker.send(job) {
            Ok(()) => return Ok(()),
            // Its thread is gone.
            Err(back) => job = back.0,
        }
    }
    let (sender, jobs) = channel::<Job>();
    let again = sender.clone();
    let loops = move || {
        leave_signals();
        HERE.set(is_here);
        while let Some(job) = look_for(|| jobs.try_recv().ok()).or_else(|| jobs.recv().ok()) {
            pjrt_jaxlib::python::stay_known();
            // Idle before it tells: the next job comes at once, and this thread looks for it.
            job(&|| idle().push(again.clone()));
        }
    };
    fork::started();
    let thread = std::thread::Builder::new()
        .name(name.into())
        .stack_size(STACK);
    match thread.spawn(loops).is_ok() && sender.send(job).is_ok() {
        true => Ok(()),
        false => Err(no_thread()),
    }
}

impl<T> Pending<T> {
    /// The result if it comes within `limit`, and before R is needed elsewhere. It is given once.
    /// For R's thread only.
    pub fn wait(&self, limit: Duration) -> Option<Outcome<T>> {
        // The work may need Python's lock, which reticulate makes R's thread keep.
        pjrt_jaxlib::python::blocking(|| self.wait_here(limit))
    }

    fn wait_here(&self, limit: Duration) -> Option<Outcome<T>> {
        let deadline = Instant::now() + limit;
        let look = || {
            let mut slot = self.slot.0.lock().unwrap_or_else(PoisonError::into_inner);
            slot.take()
        };
        if self.may_be_soon && !limit.is_zero() {
            let found = look_for(|| match look() {
                None if main_thread::has_work() => Some(None),
                result => result.map(Some),
            });
            if let Some(result) = found {
                return result;
            }
        }
        loop {
            let result = look();
            let left = deadline.saturating_duration_since(Instant::now());
            if result.is_some() || left.is_zero() || main_thread::has_work() {
                return result;
            }
            thread::park_timeout(left);
        }
    }
}
