//! The main thread where it waits, and while it serves.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use crate::queue::{has_work, next, queue};
use crate::thread::{is_here, ring, ATTENDED, BELL, DEPTH, HERE, MAIN};

/// Makes this the main thread, unless there is one. `bell` is called, from any thread, when there
/// is something to do while the main thread is elsewhere.
pub fn claim(bell: fn()) {
    if MAIN.set(thread::current()).is_ok() {
        HERE.set(true);
        let _ = BELL.set(bell);
        queue().seen = Some(Instant::now());
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
    let Some(errand) = next() else {
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
