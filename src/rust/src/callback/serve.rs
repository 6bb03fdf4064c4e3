//! Where R's thread serves what handlers ask it for: in every loop in which it waits itself, at an
//! idle prompt, and before R ends.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::callback::contained::{contained, Mode};
use crate::callback::on_r::on_r;
use crate::failure::Outcome;
use crate::unwind::check_interrupt;

/// Whether programs may ask for R from now on.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Tells that programs may ask for R: what R's thread waits for may need R then.
pub fn start() {
    IN_USE.store(true, Ordering::Relaxed);
    super::idle::watch();
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

/// Serves where R's thread waits in the included plugin for a host that is not ours: no jump must pass
/// the frames of that. And runs handlers of others that programs of ours call.
pub fn serve_in_plugin() {
    pjrt_jaxlib::attend_by(pjrt_jaxlib::Attendant {
        is_here: || in_use() && main_thread::is_here(),
        attend: |turn| {
            /// Whoever asks wakes the thread, so this matters only where that is missed.
            const TURN: Duration = Duration::from_millis(500);
            {
                let _attending = main_thread::attend();
                while !turn(TURN) {
                    serve_waiting();
                }
            }
            interrupt_again();
        },
        run: on_r,
    });
}

thread_local! {
    static OF_RUN: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs the work of a run that R may give up: its callbacks are then not served any more.
pub fn of_run<T>(abandoned: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<AtomicBool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OF_RUN.set(self.0.take());
        }
    }
    let _restore = Restore(OF_RUN.replace(Some(abandoned.clone())));
    work()
}

/// What tells that R has given up the work that this thread does.
pub fn abandoned() -> Option<Arc<AtomicBool>> {
    OF_RUN.with_borrow(Clone::clone)
}

/// Gives a run up when it is dropped.
#[derive(Default)]
pub struct Abandon(Arc<AtomicBool>);

impl Abandon {
    /// What tells the threads of the run.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    /// Gives it up.
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
        if in_use() {
            main_thread::wake_askers();
        }
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        self.now();
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
