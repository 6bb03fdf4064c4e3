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

use crate::r::failure::{panicked, Failure, Outcome};
use pjrt_jaxlib::{leave_signals, look_for};

type Job = Box<dyn FnOnce() + Send>;

/// Threads without work. A thread that is busy with abandoned work is not among them.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// As much as R's own thread has: handlers run here.
const STACK: usize = 16 << 20;

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is one of these threads, of which there are as many as are needed.
pub fn is_here() -> bool {
    HERE.get()
}

/// A result that is not there yet.
pub struct Pending<T> {
    slot: Arc<Slot<T>>,
}

type Slot<T> = Mutex<Option<Outcome<T>>>;

/// `work` as a job, and where its result will be.
fn job<T: Send + 'static>(work: impl FnOnce() -> Outcome<T> + Send + 'static) -> (Job, Pending<T>) {
    let slot = Arc::new(Slot::default());
    let pending = Pending { slot: slot.clone() };
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|p| Err(panicked(&*p)));
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        main_thread::wake();
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
        job();
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
        job();
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
    let (mut job, pending) = job(work);
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    while let Some(worker) = idle() {
        match worker.send(job) {
            Ok(()) => return Ok(pending),
            // Its thread is gone.
            Err(back) => job = back.0,
        }
    }
    let (sender, jobs) = channel::<Job>();
    let again = sender.clone();
    let loops = move || {
        leave_signals();
        HERE.set(true);
        while let Some(job) = look_for(|| jobs.try_recv().ok()).or_else(|| jobs.recv().ok()) {
            pjrt_jaxlib::python::stay_known();
            job();
            IDLE.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(again.clone());
        }
    };
    fork::started();
    let thread = std::thread::Builder::new()
        .name("xlaffi".into())
        .stack_size(STACK);
    let started = thread.spawn(loops).is_ok() && sender.send(job).is_ok();
    if started {
        Ok(pending)
    } else {
        Err(no_thread())
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
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.take()
        };
        if !limit.is_zero() {
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
