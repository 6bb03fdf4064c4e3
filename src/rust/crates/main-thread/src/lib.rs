//! Work that only the main thread may do, asked for by other threads.
//!
//! R runs on one thread. A thread that needs it [asks](ask): its errand is queued, and it waits.
//! The main thread [serves](serve) errands one by one, wherever it waits itself, and where it is
//! told by the bell that there is one. Nothing here is locked while an errand runs, so an errand may
//! wait in its turn, and serve others meanwhile.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The thread that serves.
static MAIN: OnceLock<Thread> = OnceLock::new();
/// What is asked for, oldest first.
static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    errands: VecDeque::new(),
    closed: false,
    seen: None,
});
/// How many there are, to be looked at without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// Whether the main thread looks after the queue by itself.
static ATTENDED: AtomicBool = AtomicBool::new(false);
/// Tells a main thread that does something else.
static BELL: OnceLock<fn()> = OnceLock::new();

thread_local! {
    /// How many errands this thread is in the middle of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static HERE: Cell<bool> = const { Cell::new(false) };
}

struct Queue {
    errands: VecDeque<Errand>,
    /// Nobody will serve any more.
    closed: bool,
    /// When the main thread was last known to serve; `None` while it does.
    seen: Option<Instant>,
}

struct Errand {
    number: u64,
    run: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
}

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The main thread has ended, or says that it serves no more.
    Closed,
    /// Whoever waits for the work gave it up.
    Cancelled,
    /// The work unwound: the main thread left it by a jump.
    Left,
    /// The main thread did not come for that long.
    Alone(Duration),
}

/// How long an errand waits.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    /// Set by whoever gives up the whole; [`wake_askers`] makes them look.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// For how long the main thread may do something else.
    pub limit: Option<Duration>,
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this the main thread, unless there is one. `bell` is called, from any thread, when there
/// is something to do while the main thread is elsewhere.
pub fn claim(bell: fn()) {
    if MAIN.set(thread::current()).is_ok() {
        HERE.set(true);
        let _ = BELL.set(bell);
        queue().seen = Some(Instant::now());
    }
}

/// Whether this is the main thread.
#[inline]
pub fn is_here() -> bool {
    HERE.get()
}

/// Whether the main thread is in the middle of an errand, and this is that thread.
pub fn is_serving() -> bool {
    depth() > 0
}

/// How many errands this thread is in the middle of.
pub fn depth() -> usize {
    DEPTH.get()
}

/// Whether somebody asks.
#[inline]
pub fn has_work() -> bool {
    WAITING.load(Ordering::Acquire) > 0
}

/// How many threads wait for the main thread, or for work of theirs that it is in the middle of.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// Whether some thread does not get on without the main thread.
pub fn is_needed() -> bool {
    ASKING.load(Ordering::SeqCst) > 0
}

/// What makes an answer known.
struct Slot<T> {
    answer: Mutex<Option<Result<T, Refusal>>>,
    changed: Condvar,
}

/// Those that wait, to be told to look at their patience.
static ASKERS: Mutex<Vec<Arc<dyn Wake>>> = Mutex::new(Vec::new());

trait Wake: Send + Sync {
    fn wake(&self);
}

impl<T: Send> Wake for Slot<T> {
    fn wake(&self) {
        // With the lock, so that the asker is not between its look and its wait.
        drop(self.answer.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// Has `work` done on the main thread, and waits for it.
///
/// # Errors
/// Why it was not done, or not to its end.
pub fn ask<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    patience: &Patience,
) -> Result<T, Refusal> {
    if is_here() {
        return Ok(work());
    }
    if fork::is_child() {
        return Err(Refusal::Closed);
    }
    let slot = Arc::new(Slot {
        answer: Mutex::new(None),
        changed: Condvar::new(),
    });
    let theirs = slot.clone();
    let run = move |verdict: Result<(), Refusal>| {
        let done = verdict.map(|()| catch_unwind(AssertUnwindSafe(work)));
        let (answer, unwound) = match done {
            Err(refusal) => (Err(refusal), None),
            Ok(Ok(result)) => (Ok(result), None),
            Ok(Err(payload)) => (Err(Refusal::Left), Some(payload)),
        };
        *theirs.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        theirs.changed.notify_all();
        if let Some(payload) = unwound {
            resume_unwind(payload);
        }
    };
    ASKING.fetch_add(1, Ordering::SeqCst);
    let answer = post(Box::new(run)).and_then(|number| {
        let waker: Arc<dyn Wake> = slot.clone();
        askers().push(waker.clone());
        let answer = wait_for(&slot, number, patience);
        askers().retain(|asker| !std::ptr::addr_eq(Arc::as_ptr(asker), Arc::as_ptr(&waker)));
        answer
    });
    ASKING.fetch_sub(1, Ordering::SeqCst);
    answer
}

fn askers() -> MutexGuard<'static, Vec<Arc<dyn Wake>>> {
    ASKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn post(run: Box<dyn FnOnce(Result<(), Refusal>) + Send>) -> Result<u64, Refusal> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) as u64;
    {
        let mut queue = queue();
        if queue.closed {
            return Err(Refusal::Closed);
        }
        queue.errands.push_back(Errand { number, run });
        WAITING.store(queue.errands.len(), Ordering::SeqCst);
    }
    if ATTENDED.load(Ordering::SeqCst) {
        wake();
    } else {
        ring();
    }
    Ok(number)
}

fn ring() {
    if let Some(bell) = BELL.get() {
        bell();
    }
}

/// How often those that wait look at what nobody tells them.
const LOOK: Duration = Duration::from_millis(500);

fn wait_for<T>(slot: &Slot<T>, number: u64, patience: &Patience) -> Result<T, Refusal> {
    let asked = Instant::now();
    let mut answer = slot.answer.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(answer) = answer.take() {
            return answer;
        }
        drop(answer);
        let refusal = impatient(patience, asked);
        if refusal.is_some_and(|refusal| withdraw(number, refusal)) {
            // Its answer is there now.
            answer = slot.answer.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        answer = slot.answer.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.is_none() {
            answer = slot
                .changed
                .wait_timeout(answer, LOOK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

fn impatient(patience: &Patience, asked: Instant) -> Option<Refusal> {
    let cancelled = patience.cancelled.as_ref();
    if cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Acquire)) {
        return Some(Refusal::Cancelled);
    }
    let limit = patience.limit?;
    let seen = queue().seen?;
    (seen.max(asked).elapsed() >= limit).then_some(Refusal::Alone(limit))
}

/// Takes an errand back that nobody has begun; false where somebody has.
fn withdraw(number: u64, refusal: Refusal) -> bool {
    let errand = {
        let mut queue = queue();
        let place = queue.errands.iter().position(|e| e.number == number);
        let errand = place.and_then(|place| queue.errands.remove(place));
        WAITING.store(queue.errands.len(), Ordering::SeqCst);
        errand
    };
    let found = errand.is_some();
    if let Some(errand) = errand {
        (errand.run)(Err(refusal));
    }
    found
}

/// Has everybody who asks look whether they were cancelled.
pub fn wake_askers() {
    for asker in askers().iter() {
        asker.wake();
    }
}

/// Wakes the main thread where it [waits](attend).
pub fn wake() {
    if let Some(main) = MAIN.get() {
        main.unpark();
    }
}

/// Tells others, while it lives, that the main thread looks after the queue by itself: it waits with
/// [`thread::park_timeout`], and serves when [`has_work`].
#[must_use]
pub struct Attending {
    before: bool,
}

/// See [`Attending`].
pub fn attend() -> Attending {
    let before = ATTENDED.load(Ordering::Relaxed);
    if is_here() {
        ATTENDED.store(true, Ordering::SeqCst);
        queue().seen = None;
    }
    Attending { before }
}

impl Drop for Attending {
    fn drop(&mut self) {
        if !is_here() || self.before {
            return;
        }
        queue().seen = (DEPTH.get() == 0).then(Instant::now);
        ATTENDED.store(false, Ordering::SeqCst);
        // Whoever came in between took the main thread for attentive.
        if has_work() {
            ring();
        }
    }
}

/// Does the oldest errand; false where there is none, and on other threads. An unwinding errand
/// unwinds through here, when its asker has been told.
pub fn serve() -> bool {
    if !is_here() || fork::is_child() {
        return false;
    }
    let errand = {
        let mut queue = queue();
        let errand = queue.errands.pop_front();
        WAITING.store(queue.errands.len(), Ordering::SeqCst);
        errand
    };
    let Some(errand) = errand else {
        return false;
    };
    let _served = Served::begin();
    (errand.run)(Ok(()));
    true
}

/// The main thread in the middle of an errand.
struct Served {
    attended: bool,
}

impl Served {
    fn begin() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        queue().seen = None;
        // While it works it does not look.
        Served {
            attended: ATTENDED.swap(false, Ordering::SeqCst),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        ATTENDED.store(self.attended, Ordering::SeqCst);
        if DEPTH.get() == 0 && !self.attended {
            queue().seen = Some(Instant::now());
        }
    }
}

/// Refuses everything that is asked for, now and from now on; or takes that back.
pub fn close(closed: bool) {
    if fork::is_child() {
        return;
    }
    let errands = {
        let mut queue = queue();
        queue.closed = closed;
        if !closed {
            return;
        }
        WAITING.store(0, Ordering::SeqCst);
        std::mem::take(&mut queue.errands)
    };
    for errand in errands {
        (errand.run)(Err(Refusal::Closed));
    }
}

#[cfg(test)]
mod tests;
