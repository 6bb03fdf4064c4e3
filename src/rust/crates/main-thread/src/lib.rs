//! Work that only the main thread may do, asked for by other threads.
//!
//! R runs on one thread. A thread that needs it [asks](ask): its errand is queued, and it waits.
//! The main thread [serves](serve) errands one by one, wherever it waits itself, and where it is
//! told by the bell that there is one. Nothing here is locked while an errand runs, so an errand may
//! wait in its turn, and serve others meanwhile.

mod ask;
mod attend;
mod queue;

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

pub use ask::{ask, is_needed, wake_askers};
pub use attend::{attend, serve, Attending};
use queue::queue;
pub use queue::{close, has_work};

/// The thread that serves.
static MAIN: OnceLock<Thread> = OnceLock::new();
/// Tells a main thread that does something else.
static BELL: OnceLock<fn()> = OnceLock::new();

thread_local! {
    /// How many errands this thread is in the middle of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static HERE: Cell<bool> = const { Cell::new(false) };
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

/// Wakes the main thread where it [waits](attend).
pub fn wake() {
    if let Some(main) = MAIN.get() {
        main.unpark();
    }
}

fn ring() {
    if let Some(bell) = BELL.get() {
        bell();
    }
}

#[cfg(test)]
mod tests;
