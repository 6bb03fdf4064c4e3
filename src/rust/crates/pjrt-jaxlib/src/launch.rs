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
use crate::turn::{Ticket, Turns};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// The runs of a client over several devices.
#[derive(Default)]
pub(crate) struct Launches {
    turns: Turns,
    /// The last one, which may be under way; for whoever has the turn.
    last: Mutex<Option<Flight>>,
}

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
    /// A place in the order of launches.
    pub fn ticket(&self) -> Ticket<'_> {
        self.turns.ticket()
    }

    /// Launches a run when it is its turn. `launch` gets its id, and gives the token besides what it launched.
    pub fn launch<T: Send>(
        &self,
        ticket: Ticket<'_>,
        jax: &Jaxlib,
        run: &Arc<Run>,
        launch: impl FnOnce(i64) -> Result<(T, Object)> + Send,
    ) -> Result<T> {
        aside(move || {
            // Whoever has the turn may need Python's lock.
            blocking(|| ticket.wait());
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
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

// Not where turns are: loom compiles that file.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_the_order_of_the_tickets() {
        let turns = Turns::default();
        let order = Mutex::new(Vec::new());
        let mut tickets: Vec<_> = (0..16).map(|i| (i, turns.ticket())).collect();
        std::thread::scope(|scope| {
            // The last one waits first.
            while let Some((i, ticket)) = tickets.pop() {
                let order = &order;
                scope.spawn(move || {
                    ticket.wait();
                    order.lock().unwrap().push(i);
                });
            }
        });
        assert!(order.into_inner().unwrap().into_iter().eq(0..16));
    }

    #[test]
    fn a_ticket_that_was_given_up_is_passed_over() {
        let turns = Turns::default();
        let [first, second, third, fourth] = [(); 4].map(|()| turns.ticket());
        first.wait();
        drop(third);
        drop(second);
        drop(first);
        fourth.wait();
        // Nobody is left to pass it on to.
        drop(fourth);
        turns.ticket().wait();
    }

    #[test]
    fn a_panic_ends_the_turn() {
        let turns = Turns::default();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let ticket = turns.ticket();
            ticket.wait();
            panic!("in its turn");
        }));
        assert!(panicked.is_err());
        turns.ticket().wait();
    }
}
