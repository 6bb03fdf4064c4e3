//! Which programs may run on R's thread, where nobody looks for Ctrl-C until they are through.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use programs::turn_alike;

/// How long a program can keep the thread that launches it. XLA counts neither the turns of a
/// loop nor the work of a custom call.
pub enum Pace {
    /// No loops, or loops that turn as often each time: as long as it does not wait for R, a run takes about as long as the
    /// one before, since the work of most handlers depends on shapes. Whether that was quick; nobody knows it of the first
    /// one.
    Steady(AtomicBool),
    /// Anything.
    Long,
}

/// Runs that take longer are worth the way to another thread, about a tenth of it.
const QUICK: Duration = Duration::from_millis(1);

impl Pace {
    /// The pace of a program; one that is not text may have anything in it.
    pub fn of(code: &[u8]) -> Self {
        match std::str::from_utf8(code) {
            Ok(text) if turn_alike(text) && !text.contains('\0') => {
                Pace::Steady(AtomicBool::new(false))
            }
            _ => Pace::Long,
        }
    }

    /// Whether the next run may take long.
    pub fn may_take_long(&self) -> bool {
        match self {
            Pace::Steady(was_quick) => !was_quick.load(Ordering::Relaxed),
            Pace::Long => true,
        }
    }

    /// Runs it, and remembers how long that took.
    pub fn timed<R>(&self, run: impl FnOnce() -> R) -> R {
        let Pace::Steady(was_quick) = self else {
            return run();
        };
        let start = Instant::now();
        let result = run();
        was_quick.store(start.elapsed() < QUICK, Ordering::Relaxed);
        result
    }
}
