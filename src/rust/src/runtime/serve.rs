//! Where R's thread serves what handlers ask it for: in every loop in which it waits itself, at an
//! idle prompt, and before R ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::contained::{contained, Mode};
use crate::r::failure::Outcome;
use crate::r::unwind::check_interrupt;

/// Whether programs may ask for R from now on.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Notes that programs may ask for R.
pub fn note_use() {
    IN_USE.store(true, Ordering::Relaxed);
}

/// Whether R's thread must not wait for XLA in a call that does not serve.
pub fn in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// Waits for up to `limit` on R's thread, in turns, each of which waits for so long at most and ends
/// where somebody needs R; what they need is done between two turns.
pub fn while_serving<T>(
    limit: Duration,
    mut turn: impl FnMut(Duration) -> Outcome<Option<T>>,
) -> Outcome<Option<T>> {
    let deadline = Instant::now() + limit;
    let _attending = main_thread::attend();
    let _mode = Mode::set(false);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let done = turn(left)?;
        if done.is_some() {
            return Ok(done);
        }
        if main_thread::serve() {
            // In a long row of calls R itself may never look.
            check_interrupt();
        } else if left.is_zero() {
            return Ok(None);
        }
    }
}

/// Does what is asked for, where an R error or a jump must not go further.
pub fn serve_waiting() {
    while main_thread::has_work() {
        contained(|| {
            main_thread::serve();
        });
    }
}

/// R's own flag was taken down where the interrupt was caught.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Tells that the function was interrupted that is being served where jumps are contained.
pub fn interrupted() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Interrupts R again, for what runs outside.
pub fn interrupt_again() {
    if INTERRUPTED.swap(false, Ordering::Relaxed) {
        #[cfg(unix)]
        // SAFETY: R has a handler for it, which only takes a note.
        unsafe {
            libc::raise(libc::SIGINT);
        }
    }
}
