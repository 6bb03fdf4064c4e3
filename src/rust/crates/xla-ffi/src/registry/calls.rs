//! The calls in handlers that are no longer current.

use super::slot::Installed;

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

    pub(super) fn running(&self) -> usize {
        let running = self.installed.running();
        // Used again means that they were over.
        if self.installed.epoch() == self.epoch {
            running
        } else {
            0
        }
    }
}
