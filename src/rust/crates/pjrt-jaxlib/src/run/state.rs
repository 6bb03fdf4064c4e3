//! A run of a program, as its results and the programs that read them see it.

use crate::base::error::Error;
use crate::run::signal::{Outcome, Signal};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A program over several devices, as errors tell of it.
#[derive(Default)]
pub(crate) struct Info {
    pub name: String,
    /// Ids of the devices and what users know them by.
    pub devices: Vec<(i64, String)>,
    /// What the devices do together, as the compiled program names it.
    pub collectives: Vec<String>,
    /// Whether it calls handlers of which nobody knows whether they are at work.
    pub calls_unseen: bool,
}

/// What a run computes on a device.
pub(crate) trait Computed: Send + Sync {
    /// How it ended; `None` while it is under way.
    fn end(&self) -> Option<Outcome>;
}

/// A run of a program.
#[derive(Default)]
pub(crate) struct Run {
    /// Known to be through, with all its results.
    through: AtomicBool,
    /// The program, where it is one over several devices: then XLA does not know of the errors of handlers (`guard`).
    info: Option<Arc<Info>>,
    failure: OnceLock<Error>,
    /// How many calls of handlers each device has come to.
    calls: Box<[AtomicUsize]>,
    /// With which of them a device ends that calls handlers without end, once the run has failed.
    last_call: OnceLock<usize>,
    /// How many calls of handlers are under way.
    busy: AtomicUsize,
    /// The first result of each device.
    results: OnceLock<Vec<Weak<dyn Computed>>>,
    /// Nobody waits for it any more: devices do not come back.
    given_up: AtomicBool,
    /// Who waits for it; `None` when it is through.
    waiting: Mutex<Vec<Arc<Signal>>>,
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
    pub fn over(program: &Arc<Info>, inputs: Vec<Arc<Run>>) -> Arc<Self> {
        Arc::new(Self {
            info: Some(Arc::clone(program)),
            calls: program
                .devices
                .iter()
                .map(|_| AtomicUsize::new(0))
                .collect(),
            inputs: Mutex::new(inputs),
            ..Self::default()
        })
    }

    fn inputs(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Arc<Signal>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program, where it is one over several devices.
    pub fn info(&self) -> Option<&Info> {
        self.info.as_deref()
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
        self.info.is_some()
    }

    /// Remembers the first result of each device.
    pub fn set_results(&self, first: impl Iterator<Item = Weak<dyn Computed>>) {
        let _ = self.results.set(first.collect());
    }

    /// How the run ended on each device, in order: `Some(None)` where it is under way, `None` where nobody can tell.
    pub fn ends(&self) -> Vec<Option<Option<Outcome>>> {
        let results = self.results.get().map_or(&[][..], Vec::as_slice);
        let end = |result: &Weak<dyn Computed>| Some(result.upgrade()?.end());
        results.iter().map(end).collect()
    }

    /// A handler has failed on the device with this id; the first one counts.
    pub fn fail(&self, device: i64, mut error: Error) {
        let names = self.info().map_or(&[][..], |info| &info.devices);
        let name = names.iter().find(|(id, _)| *id == device);
        let name = name.map_or_else(|| device.to_string(), |(_, name)| name.clone());
        error.message = format!(
            "{} (on device {name}, one of {})",
            error.message,
            names.len()
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

    /// Counts a call of a handler on the device with this id, and gives its number there.
    pub fn count_call(&self, device: i64) -> usize {
        let devices = self.info().map_or(&[][..], |info| &info.devices);
        let place = devices.iter().position(|(id, _)| *id == device);
        let count = place.and_then(|place| self.calls.get(place));
        count.map_or(0, |count| count.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether a failed run goes on at the call of this number: not for ever, as a loop may wait for what handlers give.
    /// The number is the same on all devices, so that none ends while others wait for it.
    pub fn goes_on_at(&self, number: usize) -> bool {
        const MORE: usize = 1 << 8;
        let last = self.last_call.get_or_init(|| {
            let counts = self.calls.iter().map(|n| n.load(Ordering::Relaxed));
            counts.max().unwrap_or(0) + MORE
        });
        number < *last
    }

    /// A handler is called.
    pub fn enter(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Whether handlers are at work, or may be.
    pub fn may_be_busy(&self) -> bool {
        self.info().is_some_and(|info| info.calls_unseen) || self.busy.load(Ordering::Relaxed) > 0
    }

    /// Whether it, or one that it reads from, may still be given up.
    pub fn can_be_given_up(&self) -> bool {
        match self.is_over_several() {
            true => !self.settled.load(Ordering::Acquire),
            false => !self.inputs().is_empty(),
        }
    }

    /// Sets the signal when the run is given up, or one that it reads from.
    pub fn tell(&self, signal: &Arc<Signal>) {
        if self.is_over_several() {
            let mut waiting = self.waiting();
            if !self.settled.load(Ordering::Acquire) {
                waiting.push(Arc::clone(signal));
            }
            drop(waiting);
            if self.given_up.load(Ordering::Acquire) {
                signal.set(self.failure());
            }
        }
        let inputs = self.inputs().clone();
        inputs.iter().for_each(|run| run.tell(signal));
    }

    /// Whether somebody waits for what it computes.
    pub fn is_waited_for(&self) -> bool {
        self.waiting().iter().any(|signal| !signal.is_set())
    }

    /// Ends all waits for it, with its failure: with this error where it has none.
    pub fn give_up(&self, error: Error) {
        let _ = self.failure.set(error);
        self.given_up.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut *self.waiting());
        for signal in waiting {
            signal.set(self.failure());
        }
    }

    /// The error of a run that was given up, or that reads from one.
    pub fn given_up(&self) -> Option<Error> {
        match self.given_up.load(Ordering::Acquire) {
            true => self.failure(),
            false => self.inputs().iter().find_map(|run| run.given_up()),
        }
    }

    /// All devices are through, and so are the runs that it reads from.
    pub fn settle(&self) {
        if let Some(error) = self.failure() {
            let _ = self.failure.set(error);
        }
        self.inputs().clear();
        self.settled.store(true, Ordering::Release);
        self.waiting().clear();
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

/// A run whose handler is at work, for as long as this lives.
pub(crate) struct Busy(Arc<Run>);

impl Deref for Busy {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.0
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Arc<Run> {
        let devices = vec![(3, "three".into()), (5, "five".into())];
        Run::over(
            &Arc::new(Info {
                devices,
                ..Info::default()
            }),
            Vec::new(),
        )
    }

    #[test]
    fn a_failed_run_ends_at_the_same_call_on_all_devices() {
        let run = run();
        let last = |device| {
            let numbers = std::iter::repeat_with(|| run.count_call(device));
            numbers.take_while(|number| run.goes_on_at(*number)).last()
        };
        // One device was ahead when the other came to see the failure.
        for _ in 0..3 {
            run.count_call(3);
        }
        let of_second = last(5);
        assert!(of_second > Some(100));
        assert_eq!(last(3), of_second);
    }

    #[test]
    fn a_run_that_is_given_up_ends_all_waits_for_it_and_for_what_reads_it() {
        let first = run();
        let second = Run::reading(vec![Arc::clone(&first)]);
        let [before, of_second, after] = [(); 3].map(|()| Signal::new());
        first.tell(&before);
        second.tell(&of_second);
        assert!(first.is_waited_for() && second.given_up().is_none());
        let error = Error::deadline("too long");
        first.give_up(error.clone());
        second.tell(&after);
        for signal in [before, of_second, after] {
            assert_eq!(signal.wait(), Some(error.clone()));
        }
        assert_eq!(second.given_up(), Some(error));
        assert!(!first.is_waited_for());
    }

    #[test]
    fn a_run_is_busy_while_a_handler_is_at_work() {
        let run = run();
        let busy = [run.enter(), run.enter()];
        assert!(run.may_be_busy());
        drop(busy);
        assert!(!run.may_be_busy());
    }
}
