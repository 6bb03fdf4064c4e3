//! The thread that calls XLA for programs over several devices. It may never come back.

use super::state::{Flight, Job, State, Stuck, Task, UnderWay};
use crate::base::error::{Error, Result};
use crate::base::signals::leave_signals;
use crate::base::soon::look_for;
use crate::cluster::guard::Registered;
use crate::python::compat::Jaxlib;
use crate::python::gil::stay_known;
use crate::run::signal::{in_background, Outcome, Signal};
use crate::run::state::Run;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self};
use std::time::{Duration, Instant};

/// The name of threads that call XLA for several devices.
pub const THREAD: &str = "xlaffi-launch";

/// As much as a main thread has: XLA may call handlers there.
const STACK: usize = 16 << 20;

/// What the threads of a client share.
pub(super) struct Launcher {
    jax: &'static Jaxlib,
    /// Looks whether runs come to an end, on a thread of its own.
    watch: Box<dyn Fn(&Launcher) + Send + Sync>,
    /// Whether `stuck` is there.
    is_stuck: AtomicBool,
    state: Mutex<State>,
    /// The last run, until its end has been waited for. Who launches on a thread of the host's has it for so long.
    flight: Mutex<Option<Flight>>,
    /// For the launching thread.
    tasks_changed: Condvar,
    /// For the watching thread.
    begun: Condvar,
}

impl Launcher {
    pub fn new(jax: &'static Jaxlib, watch: impl Fn(&Launcher) + Send + Sync + 'static) -> Self {
        Self {
            jax,
            watch: Box::new(watch),
            is_stuck: AtomicBool::new(false),
            state: Mutex::default(),
            flight: Mutex::default(),
            tasks_changed: Condvar::new(),
            begun: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flight(&self) -> MutexGuard<'_, Option<Flight>> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a launch done.
    pub fn add(self: &Arc<Self>, job: Job) -> Result<()> {
        let mut state = self.with_threads()?;
        state.tasks.push_back(Task::Launch(job));
        drop(state);
        self.tasks_changed.notify_one();
        Ok(())
    }

    /// Does a launch on this thread, which may never come back: the job's caller is told of that. Launches come in turn.
    pub fn launch_here(self: &Arc<Self>, job: Job) -> Result<()> {
        drop(self.with_threads()?);
        let caller = Arc::clone(&job.caller);
        let mut flight = self.flight();
        self.end(flight.take(), Some(Arc::clone(&caller)));
        // Given up while it waited for the run before it.
        if let Some(Some(error)) = caller.poll() {
            return Err(error);
        }
        self.launch(job, &mut flight).map_or(Ok(()), Err)
    }

    /// The state, once there are threads that launch and watch.
    fn with_threads(self: &Arc<Self>) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        // Given up since it was checked: the thread may never come to it.
        if let Some(stuck) = &state.stuck {
            return Err(stuck.refusal());
        }
        if !state.is_watched {
            let launcher = Arc::clone(self);
            in_background("xlaffi-watch", move || (launcher.watch)(&launcher))?;
            state.is_watched = true;
        }
        if state.thread.is_none() {
            let launcher = Arc::clone(self);
            let thread = thread::Builder::new()
                .name(THREAD.into())
                .stack_size(STACK)
                .spawn(move || {
                    leave_signals();
                    launcher.work();
                });
            let thread =
                thread.map_err(|e| Error::exhausted(format!("cannot start a thread: {e}")))?;
            state.thread = Some(thread.thread().id());
        }
        Ok(state)
    }

    /// An error as long as devices have not come back from a run.
    pub fn check(&self) -> Result<()> {
        if !self.is_stuck.load(Ordering::Acquire) {
            return Ok(());
        }
        self.state()
            .stuck
            .as_ref()
            .map_or(Ok(()), |stuck| Err(stuck.refusal()))
    }

    /// The same for a program on the device with this id.
    pub fn check_device(&self, id: i64) -> Result<()> {
        if !self.is_stuck.load(Ordering::Acquire) {
            return Ok(());
        }
        match &self.state().stuck {
            Some(stuck) if stuck.lost.contains(&id) => Err(Error::precondition(format!(
                "the device has not come back from `{}`, a program over several devices that {}was given up ({})",
                stuck.program, stuck.failed, stuck.devices
            ))),
            _ => Ok(()),
        }
    }

    fn work(&self) {
        stay_known();
        while let Some(task) = self.next() {
            let caller = match &task {
                Task::Launch(job) => Some(Arc::clone(&job.caller)),
                Task::End(_) => None,
            };
            let last = self.flight().take();
            self.end(last, caller.clone());
            match task {
                // Given up while it waited for the run before it.
                Task::Launch(job) if job.caller.is_set() => {}
                Task::Launch(job) => {
                    let error = self.launch(job, &mut self.flight());
                    if let Some(caller) = caller {
                        caller.set(error);
                    }
                }
                Task::End(ended) => {
                    ended.set(None);
                }
            }
        }
    }

    fn next(&self) -> Option<Task> {
        let found = look_for(|| self.state().tasks.pop_front());
        if found.is_some() {
            return found;
        }
        let mut state = self.state();
        loop {
            match state.tasks.pop_front() {
                None if !state.is_closed => {
                    let changed = self.tasks_changed.wait(state);
                    state = changed.unwrap_or_else(PoisonError::into_inner);
                }
                task => return task,
            }
        }
    }

    fn end(&self, flight: Option<Flight>, caller: Option<Arc<Signal>>) {
        if let Some(flight) = flight {
            if caller.is_some() {
                self.begin(&flight.run, caller, true);
            }
            flight.end(self.jax);
            self.came_back(true);
        }
    }

    /// Launches on this thread; why it failed.
    fn launch(&self, job: Job, flight: &mut Option<Flight>) -> Outcome {
        let Job {
            run,
            caller,
            launch,
        } = job;
        let registered = Registered::new(&run);
        self.begin(&run, Some(caller), false);
        let id = registered.id();
        let launched = catch_unwind(AssertUnwindSafe(|| launch(id)));
        let launched = launched.unwrap_or_else(|_| Err(Error::internal("a launch has panicked")));
        self.came_back(launched.is_err());
        match launched {
            Ok(token) => {
                *flight = Some(Flight {
                    token,
                    run,
                    _registered: registered,
                });
                None
            }
            Err(error) => Some(error),
        }
    }

    /// This thread waits for the run from here on.
    fn begin(&self, run: &Arc<Run>, caller: Option<Arc<Signal>>, is_launched: bool) {
        let mut state = self.state();
        // Given up just now.
        if let (Some(stuck), Some(caller)) = (&state.stuck, &caller) {
            caller.set(Some(stuck.refusal()));
        }
        state.number += 1;
        state.under_way = Some(UnderWay {
            number: state.number,
            run: Arc::clone(run),
            caller,
            is_launched,
        });
        if state.nobody_watches {
            self.begun.notify_one();
        }
    }

    /// It does no more; the run itself may go on.
    fn came_back(&self, is_over: bool) {
        let mut state = self.state();
        if state.stuck.take().is_some() {
            self.begun.notify_one();
        }
        self.is_stuck.store(false, Ordering::Release);
        match &mut state.under_way {
            Some(under_way) if !is_over => under_way.caller = None,
            under_way => *under_way = None,
        }
    }

    /// What is under way when `limit` has gone by; waits until something is. `None` where nothing will be.
    pub fn look_after(&self, limit: Duration) -> Option<UnderWay> {
        let start = Instant::now();
        let mut state = self.state();
        loop {
            if state.is_closed && state.stuck.is_none() && state.under_way.is_none() {
                return None;
            }
            let watched = state.under_way.as_ref().filter(|_| state.stuck.is_none());
            let left = limit.saturating_sub(start.elapsed());
            match watched {
                Some(under_way) if left.is_zero() => return Some(under_way.clone()),
                Some(_) => {
                    let waited = self.begun.wait_timeout(state, left);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    state.nobody_watches = true;
                    let begun = self.begun.wait(state);
                    state = begun.unwrap_or_else(PoisonError::into_inner);
                    state.nobody_watches = false;
                }
            }
        }
    }

    /// The run of this number is over, and nobody need look at it.
    pub fn is_over(&self, number: u64) {
        let mut state = self.state();
        if state.number == number
            && state
                .under_way
                .as_ref()
                .is_some_and(|it| it.caller.is_none())
        {
            state.under_way = None;
        }
    }

    /// Ends all waits for a run, unless it has moved on.
    pub fn give_up(&self, seen: &UnderWay, error: Error, stuck: Stuck) {
        let mut state = self.state();
        let under_way = state.under_way.as_ref();
        let Some(under_way) = under_way.filter(|it| it.number == seen.number) else {
            return;
        };
        let (caller, is_launched) = (under_way.caller.clone(), under_way.is_launched);
        state.stuck = Some(stuck);
        self.is_stuck.store(true, Ordering::Release);
        if caller.is_none() {
            // The launching thread, which is free, finds out when the run ends.
            state.tasks.push_back(Task::End(Signal::new()));
            self.tasks_changed.notify_one();
        }
        drop(state);
        seen.run.give_up(error.clone());
        if let Some(caller) = caller {
            let failure = seen.run.failure().filter(|_| !is_launched);
            caller.set(failure.or(Some(error)));
        }
    }

    /// As [`Launches::close`](super::Launches::close).
    pub fn close(&self) -> bool {
        const LONGEST: Duration = Duration::from_secs(2);
        let ended = Signal::new();
        {
            let mut state = self.state();
            state.is_closed = true;
            self.begun.notify_one();
            if state.thread.is_none() {
                return true;
            }
            if state.stuck.is_some() || state.thread == Some(thread::current().id()) {
                return false;
            }
            state.tasks.push_back(Task::End(Arc::clone(&ended)));
        }
        self.tasks_changed.notify_one();
        let start = Instant::now();
        while !ended.is_set() && start.elapsed() < LONGEST {
            if look_for(|| ended.poll()).is_none() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        ended.is_set()
    }
}
