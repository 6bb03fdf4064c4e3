//! Those that ask.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::queue::{post, queue, withdraw};
use crate::thread::{is_here, Patience, Refusal};

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
    let cancelled = patience.cancelled.clone();
    let run = move |verdict: Result<(), Refusal>| {
        // The asker may not have woken yet to withdraw it.
        let verdict = verdict.and_then(|()| refuse_cancelled(cancelled.as_deref()));
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

fn refuse_cancelled(cancelled: Option<&AtomicBool>) -> Result<(), Refusal> {
    match cancelled {
        Some(cancelled) if cancelled.load(Ordering::Acquire) => Err(Refusal::Cancelled),
        _ => Ok(()),
    }
}

fn impatient(patience: &Patience, asked: Instant) -> Option<Refusal> {
    if let Err(refusal) = refuse_cancelled(patience.cancelled.as_deref()) {
        return Some(refusal);
    }
    let limit = patience.limit?;
    let seen = queue().seen?;
    (seen.max(asked).elapsed() >= limit).then_some(Refusal::Alone(limit))
}

/// Has everybody who asks look whether they were cancelled.
pub fn wake_askers() {
    for asker in askers().iter() {
        asker.wake();
    }
}
