//! One array of jaxlib, and what is known of it.

use crate::base::attend::attendant;
use crate::base::error::{Error, Result};
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::signal::{in_background, Outcome, Signal};
use crate::run::state::{Computed, Run};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An array; shared by its buffer and by the events that wait for it.
pub(crate) struct Array {
    jax: &'static Jaxlib,
    object: Object,
    /// How its computation ended; known for good once it has.
    outcome: OnceLock<Outcome>,
    /// Set by the one thread that waits for all who want to be called back; there from the first
    /// of them on.
    completion: Mutex<Option<Arc<Signal>>>,
    /// Address of the elements; 0 until it has been asked for.
    address: AtomicUsize,
    /// The run that computes it.
    run: Option<Arc<Run>>,
}

/// After so many arrays jaxlib is asked to let go of what it has collected meanwhile.
const ARRAYS_PER_COLLECTION: usize = 256;

/// jaxlib puts references that it gives up on a list (some 40 bytes for each array and each wait),
/// which only Python's own garbage collector would empty, and that never runs for calls from here.
fn collect_now_and_then(jax: &Jaxlib) {
    static ARRAYS: AtomicUsize = AtomicUsize::new(0);
    if ARRAYS.fetch_add(1, Ordering::Relaxed) % ARRAYS_PER_COLLECTION == 0 {
        // A failure costs these bytes, no more.
        let _ = jax
            .gil()
            .and_then(|gil| gil.call(&jax.collect_garbage, []).map(drop));
    }
}

impl Array {
    pub fn new(jax: &'static Jaxlib, object: Object) -> Self {
        collect_now_and_then(jax);
        Self {
            jax,
            object,
            outcome: OnceLock::new(),
            completion: Mutex::new(None),
            address: AtomicUsize::new(0),
            run: None,
        }
    }

    /// The same, as a result of a run that is not known to be through, or not to have failed.
    pub fn computed_by(self, run: &Arc<Run>) -> Self {
        Self {
            run: Some(Arc::clone(run)),
            ..self
        }
    }

    /// The run that computes it, where that may matter.
    pub fn run(&self) -> Option<&Arc<Run>> {
        self.run.as_ref()
    }

    pub fn object(&self) -> &Object {
        &self.object
    }

    pub fn into_object(self) -> Object {
        self.object
    }

    /// How it ended, where it has.
    pub fn poll(&self) -> Option<&Outcome> {
        if self.outcome.get().is_none() {
            let ready = self
                .jax
                .gil()
                .and_then(|gil| gil.method0(&self.object, &self.jax.is_ready)?.is_true(&gil));
            match ready {
                Ok(false) => self.given_up()?,
                Ok(true) => return Some(self.wait_idle()),
                Err(error) => self.ended(Err(error)),
            }
        }
        self.outcome.get()
    }

    /// Notes that nobody waits any more for the run that computes it; `None` where somebody does.
    fn given_up(&self) -> Option<()> {
        let error = self.run.as_ref()?.given_up()?;
        let _ = self.outcome.set(Some(error));
        Some(())
    }

    /// Waits until it has ended; where the thread has other work, it does that meanwhile.
    pub fn wait(self: &Arc<Self>) -> &Outcome {
        // jaxlib waits without end for a run that may be given up.
        let run = self.run.as_ref();
        let is_watched = attendant().is_some() || run.is_some_and(|run| run.can_be_given_up());
        if is_watched && self.poll().is_none() {
            // Without a thread for it nobody can be told of the end.
            if let Ok(completion) = self.completion() {
                completion.wait();
                if self.outcome.get().is_none() {
                    self.given_up();
                }
            }
        }
        self.wait_idle()
    }

    /// Where the elements are, if they are there. Asked where Python's lock is held anyway: then nobody has to take
    /// that to wait for the array or to read it.
    pub fn look(&self, gil: &Gil) -> Result<Option<usize>> {
        let ready = gil.method0(&self.object, &self.jax.is_ready)?;
        let is_ready = ready.is_true(gil);
        ready.release(gil);
        if !is_ready? {
            return Ok(None);
        }
        let done = gil.method0(&self.object, &self.jax.block_until_ready);
        self.ended(done.map(|array| array.release(gil)));
        match self.outcome.get() {
            Some(None) => self.address_with(gil).map(Some),
            _ => Ok(None),
        }
    }

    /// The address of the elements, which are there.
    pub fn address_with(&self, gil: &Gil) -> Result<usize> {
        let address = gil.method0(&self.object, &self.jax.unsafe_buffer_pointer)?;
        let number = address.to_address(gil);
        address.release(gil);
        let number = number? as usize;
        self.address.store(number, Ordering::Release);
        Ok(number)
    }

    /// As [`Array::wait`] on a thread that may wait without end.
    pub fn wait_here(&self) -> &Outcome {
        self.wait_idle()
    }

    /// Waits until it has ended; jaxlib gives Python's lock back meanwhile.
    fn wait_idle(&self) -> &Outcome {
        if self.outcome.get().is_none() {
            let result = self.jax.gil().and_then(|gil| {
                gil.method0(&self.object, &self.jax.block_until_ready)
                    .map(|_array| ())
            });
            self.ended(result);
        }
        self.outcome.get_or_init(|| None)
    }

    /// What is set when it has ended. jaxlib's arrays can be asked and waited for, but do not call
    /// back: a thread waits for this one, however many want to know.
    pub fn completion(self: &Arc<Self>) -> Result<Arc<Signal>> {
        let mut completion = self
            .completion
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(signal) = &*completion {
            return Ok(Arc::clone(signal));
        }
        let (array, signal) = (Arc::clone(self), Signal::new());
        let waiting = Arc::clone(&signal);
        in_background("xlaffi-on-ready", move || {
            // Unless the run was given up before.
            let _ = waiting.set(array.wait_idle().clone());
        })?;
        if let Some(run) = &self.run {
            run.tell(&signal);
        }
        *completion = Some(Arc::clone(&signal));
        Ok(signal)
    }

    /// An array that was deleted or donated while somebody waited for it has served its purpose:
    /// what became of it shows where it went.
    fn ended(&self, result: Result<()>) {
        let outcome = match result {
            Ok(()) => {
                let run = self.run.as_ref();
                run.inspect(|run| run.set_through());
                run.and_then(|run| run.failure())
            }
            Err(_) if self.is_deleted() => None,
            Err(error) => Some(error),
        };
        // Another thread may have been quicker; it saw the same.
        let _ = self.outcome.set(outcome);
    }

    fn is_deleted(&self) -> bool {
        self.jax.gil().is_ok_and(|gil| self.is_deleted_with(&gil))
    }

    /// Whether jaxlib has deleted it, as donation does.
    pub fn is_deleted_with(&self, gil: &Gil) -> bool {
        gil.method0(&self.object, &self.jax.is_deleted)
            .and_then(|deleted| deleted.is_true(gil))
            .unwrap_or(false)
    }

    /// Waits, and returns the address of the elements.
    pub fn address(self: &Arc<Self>) -> Result<usize> {
        match self.address.load(Ordering::Acquire) {
            0 => {}
            known => return Ok(known),
        }
        if let Some(error) = self.wait() {
            return Err(error.clone());
        }
        let gil = self.jax.gil()?;
        self.address_with(&gil)
    }

    /// Gives its memory back as soon as no computation uses it.
    pub fn delete(&self) -> Result<()> {
        let gil = self.jax.gil()?;
        gil.method0(&self.object, &self.jax.delete).map(drop)
    }
}

impl Computed for Array {
    fn end(&self) -> Option<Outcome> {
        self.poll().cloned()
    }
}

/// The error of a buffer that is no more.
pub(crate) fn deleted(what: &str) -> Error {
    Error::invalid(format!("called on deleted or donated buffer ({what})"))
}
