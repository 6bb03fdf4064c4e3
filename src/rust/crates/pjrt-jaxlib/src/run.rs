//! A run of a program, as its results and the programs that read them see it.

use crate::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Ids of devices and what users know them by.
pub(crate) type Names = Arc<[(i64, String)]>;

/// A run of a program.
#[derive(Default)]
pub(crate) struct Run {
    /// Known to be through, with all its results.
    through: AtomicBool,
    /// The devices, where it is one over several: then XLA does not know of the errors of handlers (`guard.rs`).
    devices: Option<Names>,
    failure: OnceLock<Error>,
    /// How many calls were left out after that.
    left_out: AtomicUsize,
    /// Runs over several devices that compute what this one reads, and may still fail.
    inputs: Mutex<Vec<Arc<Run>>>,
    /// Nothing that could fail is left.
    settled: AtomicBool,
}

impl Run {
    /// A run that reads what `inputs` compute.
    pub fn reading(inputs: Vec<Arc<Run>>) -> Arc<Self> {
        Arc::new(Self {
            inputs: Mutex::new(inputs),
            ..Self::default()
        })
    }

    /// The same, over several devices.
    pub fn over(devices: &Names, inputs: Vec<Arc<Run>>) -> Arc<Self> {
        Arc::new(Self {
            devices: Some(Arc::clone(devices)),
            inputs: Mutex::new(inputs),
            ..Self::default()
        })
    }

    fn inputs(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is known to read and write nothing any more.
    pub fn is_through(&self) -> bool {
        self.through.load(Ordering::Acquire)
    }

    pub fn set_through(&self) {
        self.through.store(true, Ordering::Release);
    }

    /// Whether it is over several devices.
    pub fn is_over_several(&self) -> bool {
        self.devices.is_some()
    }

    /// A handler has failed on the device with this id; the first one counts.
    pub fn fail(&self, device: i64, mut error: Error) {
        let names = self.devices.iter().flat_map(|names| names.iter());
        let name = names.clone().find(|(id, _)| *id == device);
        let name = name.map_or_else(|| device.to_string(), |(_, name)| name.clone());
        error.message = format!(
            "{} (on device {name}, one of {})",
            error.message,
            names.count()
        );
        // The others fail for the same reason, or because of this one.
        let _ = self.failure.set(error);
    }

    /// What made it fail, or one of the runs that it reads from. What reads a result that is there, and was computed
    /// from what a handler has left undone, finds the failure here.
    pub fn failure(&self) -> Option<Error> {
        let own = self.failure.get().cloned();
        own.or_else(|| self.inputs().iter().find_map(|run| run.failure()))
    }

    /// Counts a call that was left out; false once a loop makes one after the other.
    pub fn leaves_out_another(&self) -> bool {
        const MOST: usize = 1 << 20;
        self.left_out.fetch_add(1, Ordering::Relaxed) < MOST
    }

    /// All devices are through, and so are the runs that it reads from.
    pub fn settle(&self) {
        if let Some(error) = self.failure() {
            let _ = self.failure.set(error);
        }
        self.inputs().clear();
        self.settled.store(true, Ordering::Release);
    }

    /// Adds the runs whose failure would be one of what this one computes.
    pub fn add_sources(self: &Arc<Self>, sources: &mut Vec<Arc<Run>>) {
        let settled = self.settled.load(Ordering::Acquire) && self.failure.get().is_none();
        if self.is_over_several() && !settled {
            sources.push(Arc::clone(self));
        } else if !self.is_over_several() {
            sources.extend(self.inputs().iter().cloned());
        }
    }
}
