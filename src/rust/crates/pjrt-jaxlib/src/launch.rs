//! Launching programs over several devices, one after the other for each client.
//!
//! XLA starts the devices of a program together, in its own pool of threads, and lets a program wait for the one that was
//! launched before it. A launch also waits for room on each device, which has 32 places, and it does so in that pool: with
//! all threads waiting there, no program that would make room could go on. So only a few are let in.

use crate::attend::attendant;
use crate::compat::Jaxlib;
use crate::error::{Error, Result};
use crate::event::Signal;
use crate::guard::Registered;
use crate::python::gil::blocking;
use crate::python::object::Object;
use crate::run::Run;
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// So many runs of a client may be under way.
const MOST: usize = 8;

/// The runs of a client over several devices that may be under way, the oldest first.
#[derive(Default)]
pub(crate) struct Launches(Mutex<VecDeque<Flight>>);

struct Flight {
    /// Tells when all devices are through.
    token: Object,
    run: Arc<Run>,
    _registered: Registered,
}

impl Flight {
    fn end(self, jax: &Jaxlib) {
        if let Ok(gil) = jax.gil() {
            // Results and events tell of errors.
            let _ = gil.method0(&self.token, &jax.block_until_ready);
        }
        self.run.settle();
    }
}

impl Launches {
    /// Launches a run when it is its turn. `launch` gets its id, and gives the token besides what it launched.
    pub fn launch<T: Send>(
        &self,
        jax: &Jaxlib,
        run: &Arc<Run>,
        launch: impl FnOnce(i64) -> Result<(T, Object)> + Send,
    ) -> Result<T> {
        aside(|| {
            // Whoever has the turn may need Python's lock.
            let turn = blocking(|| self.0.lock());
            let mut flights = turn.unwrap_or_else(PoisonError::into_inner);
            while flights.len() >= MOST {
                flights.pop_front().into_iter().for_each(|f| f.end(jax));
            }
            let registered = Registered::new(run);
            let (launched, token) = launch(registered.id())?;
            flights.push_back(Flight {
                token,
                run: Arc::clone(run),
                _registered: registered,
            });
            Ok(launched)
        })
    }
}

/// Does what may take long, on another thread where this one has other work meanwhile that it may need: a program whose
/// operations are few is through when it is launched.
fn aside<T: Send>(body: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if attendant().is_none() {
        return body();
    }
    std::thread::scope(|scope| {
        let signal = Signal::new();
        let telling = Arc::clone(&signal);
        let worker = std::thread::Builder::new()
            .name("xlaffi-launch".into())
            .spawn_scoped(scope, move || {
                let done = catch_unwind(AssertUnwindSafe(body));
                telling.set(None);
                done.unwrap_or_else(|_| Err(Error::internal("a launch has panicked")))
            })
            .map_err(|e| Error::exhausted(format!("cannot start a thread: {e}")))?;
        signal.wait();
        let done = blocking(|| worker.join());
        done.unwrap_or_else(|_| Err(Error::internal("a launch has panicked")))
    })
}
