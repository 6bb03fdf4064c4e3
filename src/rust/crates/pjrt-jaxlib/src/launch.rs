//! Launching programs over several devices, one after the other for each client.
//!
//! XLA runs the devices of a program at the same time, each on a thread of a pool that has as many threads as there are
//! devices, where they wait for each other in collectives. The launch of the next program runs in that pool, too. Where
//! programs are launched ahead, one after the other, threads of two of them come to wait for threads that the pool does not
//! have: such a loop of JAX's does not end. So a launch waits for the run before it.

use crate::attend::attendant;
use crate::compat::Jaxlib;
use crate::error::{Error, Result};
use crate::event::Signal;
use crate::guard::Registered;
use crate::python::gil::blocking;
use crate::python::object::Object;
use crate::run::Run;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// The last run of a client over several devices, which may be under way.
#[derive(Default)]
pub(crate) struct Launches(Mutex<Option<Flight>>);

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
            let mut last = turn.unwrap_or_else(PoisonError::into_inner);
            if let Some(flight) = last.take() {
                flight.end(jax);
            }
            let registered = Registered::new(run);
            let (launched, token) = launch(registered.id())?;
            *last = Some(Flight {
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
