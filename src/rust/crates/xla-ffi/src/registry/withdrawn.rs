//! Calls that still run in handlers that no new call gets.

use std::time::{Duration, Instant};

use super::slot::Installed;
use super::Registry;

/// What a withdrawal did, and what is still running.
#[derive(Default)]
#[must_use = "a library may be unloaded only when its calls are over"]
pub struct Withdrawn {
    count: usize,
    calls: Vec<Calls>,
}

/// The calls in handlers as they were when these were withdrawn.
pub(super) struct Calls {
    installed: &'static Installed,
    epoch: usize,
}

impl Calls {
    pub(super) fn of(installed: &'static Installed) -> Self {
        Calls {
            installed,
            epoch: installed.epoch(),
        }
    }

    fn running(&self) -> usize {
        let running = self.installed.running();
        // Used again means that they were over.
        if self.installed.epoch() == self.epoch {
            running
        } else {
            0
        }
    }
}

impl Withdrawn {
    pub(super) fn new(count: usize, calls: Vec<Calls>) -> Self {
        Withdrawn { count, calls }
    }

    /// How many handlers were withdrawn.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many threads are still in a handler, or will be: tasks that it gave to XLA's thread pool
    /// count as well, and calls that it completes later.
    #[must_use]
    pub fn running(&self) -> usize {
        self.calls.iter().map(Calls::running).sum()
    }

    /// Waits until nothing is running any more. A handler must not call this.
    pub fn wait(&self) {
        while !self.wait_timeout(Duration::from_secs(3600)) {}
    }

    /// As [`wait`](Self::wait), for so long at most; whether nothing is running any more.
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        let start = Instant::now();
        let mut spins = 0u32;
        while self.running() != 0 {
            spins += 1;
            match spins {
                0..=100 => std::hint::spin_loop(),
                101..=200 => std::thread::yield_now(),
                _ if start.elapsed() >= limit => return false,
                _ => std::thread::sleep(Duration::from_micros(100)),
            }
        }
        Registry::global().sweep();
        true
    }
}
