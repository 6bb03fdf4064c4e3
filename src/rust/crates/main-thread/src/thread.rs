//! The main thread: which one it is, and what it does.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

/// The thread that serves.
pub(crate) static MAIN: OnceLock<Thread> = OnceLock::new();
/// Tells a main thread that does something else.
pub(crate) static BELL: OnceLock<fn()> = OnceLock::new();

thread_local! {
    /// How many errands this thread is in the middle of.
    pub(crate) static DEPTH: Cell<usize> = const { Cell::new(0) };
    pub(crate) static HERE: Cell<bool> = const { Cell::new(false) };
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
    /// Set by whoever gives up the whole; [`wake_askers`](crate::wake_askers) makes them look.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// For how long the main thread may do something else.
    pub limit: Option<Duration>,
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

/// Wakes the main thread where it [waits](crate::attend).
pub fn wake() {
    if let Some(main) = MAIN.get() {
        main.unpark();
    }
}

/// Tells the main thread where it does something else.
pub(crate) fn ring() {
    if let Some(bell) = BELL.get() {
        bell();
    }
}

/// Whether the main thread looks after the queue by itself.
pub(crate) static ATTENDED: AtomicBool = AtomicBool::new(false);

/// Whether it does so now.
pub(crate) fn is_attended() -> bool {
    ATTENDED.load(Ordering::SeqCst)
}
