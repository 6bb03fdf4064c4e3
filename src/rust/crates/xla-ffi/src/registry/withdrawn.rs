//! Names lose their handlers, in which calls may still run.

use std::time::{Duration, Instant};

use super::calls::Calls;
use super::entry::{canonical_platform, Entry};
use super::state::Registry;

/// What a withdrawal did, and what is still running.
#[derive(Default)]
#[must_use = "a library may be unloaded only when its calls are over"]
pub struct Withdrawn {
    count: usize,
    calls: Vec<Calls>,
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

impl Registry {
    /// Withdraws the handler of that name and tells whether there was one, and what still runs. A
    /// new call gets an error from now on.
    pub fn withdraw(&self, target: &str, platform: &str) -> Withdrawn {
        let mut names = self.names();
        let Some(index) = names.find(target, &canonical_platform(platform)) else {
            return Withdrawn::default();
        };
        let name = &mut names.all[index];
        let found = name.withdraw(index);
        Withdrawn::new(usize::from(found), name.running(|_| true))
    }

    /// [Withdraws](Registry::withdraw) all handlers of that owner. What still runs are calls of
    /// these and of what was that owner's before it was replaced.
    pub fn withdraw_owner(&self, owner: &str) -> Withdrawn {
        let mut names = self.names();
        let (mut found, mut running) = (0, Vec::new());
        for (index, name) in names.all.iter_mut().enumerate() {
            if name.entry.is_of(owner) && name.withdraw(index) {
                found += 1;
            }
            running.extend(name.running(|of| of == Some(owner)));
        }
        Withdrawn::new(found, running)
    }

    /// [Withdraws](Registry::withdraw) the handler of that name; returns whether there was one,
    /// when no call of it is running any more. From then on its library may be unloaded. A handler
    /// must not call this.
    pub fn unregister(&self, target: &str, platform: &str) -> bool {
        let withdrawn = self.withdraw(target, platform);
        withdrawn.wait();
        withdrawn.count() > 0
    }

    /// [Withdraws](Registry::withdraw_owner) all handlers of that owner; returns how many there
    /// were, when no call of them is running any more. A handler must not call this.
    pub fn unregister_owner(&self, owner: &str) -> usize {
        let withdrawn = self.withdraw_owner(owner);
        withdrawn.wait();
        withdrawn.count()
    }

    /// Lets go of what was kept for handlers that are no longer registered, nor running.
    fn sweep(&self) {
        let swept = self.names().sweep();
        drop(swept);
    }
}

impl Entry {
    fn is_of(&self, owner: &str) -> bool {
        self.active && self.owner.as_deref() == Some(owner)
    }
}
