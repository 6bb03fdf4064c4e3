//! What is asked for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::thread::{is_attended, ring, wake, Refusal};

/// What is asked for, oldest first.
static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    errands: VecDeque::new(),
    closed: false,
    seen: None,
});
/// How many there are, to be looked at without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Queue {
    errands: VecDeque<Errand>,
    /// Nobody will serve any more.
    closed: bool,
    /// When the main thread was last known to serve; `None` while it does.
    pub(crate) seen: Option<Instant>,
}

pub(crate) struct Errand {
    number: u64,
    pub(crate) run: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
}

pub(crate) fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether somebody asks.
#[inline]
pub fn has_work() -> bool {
    WAITING.load(Ordering::Acquire) > 0
}

pub(crate) fn post(run: Box<dyn FnOnce(Result<(), Refusal>) + Send>) -> Result<u64, Refusal> {
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
    if is_attended() {
        wake();
    } else {
        ring();
    }
    Ok(number)
}

/// Takes an errand back that nobody has begun; false where somebody has.
pub(crate) fn withdraw(number: u64, refusal: Refusal) -> bool {
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

/// Takes the oldest errand.
pub(crate) fn next() -> Option<Errand> {
    let mut queue = queue();
    let errand = queue.errands.pop_front();
    WAITING.store(queue.errands.len(), Ordering::SeqCst);
    errand
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
