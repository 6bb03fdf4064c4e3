//! Launching programs over several devices, one after the other for each client.
//!
//! XLA runs the devices of a program at the same time, each on a thread of a pool that has as many threads as there are
//! devices, where they wait for each other in collectives. The launch of the next program runs in that pool, too. Where
//! programs are launched ahead, one after the other, threads of two of them come to wait for threads that the pool does not
//! have: such a loop of JAX's does not end. So a launch waits for the run before it.
//!
//! Nothing ends a wait of a device for another one that does not come: XLA's own limit ends the process. So one thread calls
//! XLA ([`launcher`]), another one looks whether anything moves ([`watch`]), and those who wait do it here, where they can be
//! told that a run is given up. A thread that its host can do without ([`expendable`](crate::expendable)) calls XLA itself.
//! The devices of a run that is given up are lost until they come back; what needs them is refused.

mod activity;
mod launcher;
mod state;
mod turn;
mod watch;

pub use launcher::THREAD;
pub(crate) use turn::Ticket;
pub(crate) use watch::Limit;

use crate::base::attend::attendant;
use crate::base::error::{Error, Result};
use crate::base::expendable::told;
use crate::base::soon::look_for;
use crate::python::compat::Jaxlib;
use crate::python::gil::blocking;
use crate::python::object::Object;
use crate::run::signal::{Outcome, Signal};
use crate::run::state::Run;
use launcher::Launcher;
use state::Job;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use turn::Turns;
use watch::watch;

/// The runs of a client over several devices.
pub(crate) struct Launches {
    turns: Turns,
    launcher: Arc<Launcher>,
}

impl Launches {
    /// `limit` says which runs are given up.
    pub fn new(jax: &'static Jaxlib, limit: Limit) -> Self {
        Self {
            turns: Turns::default(),
            launcher: Arc::new(Launcher::new(jax, move |launcher| watch(launcher, &limit))),
        }
    }

    /// A place in the order of launches.
    pub fn ticket(&self) -> Ticket<'_> {
        self.turns.ticket()
    }

    /// Launches a run when it is its turn. `launch` gets its id, and gives the token besides what it launched.
    pub fn launch<T: Send + 'static>(
        &self,
        ticket: Ticket<'_>,
        run: &Arc<Run>,
        launch: impl FnOnce(i64) -> Result<(T, Object)> + Send + 'static,
    ) -> Result<T> {
        wait_for_turn(&ticket);
        self.launcher.check()?;
        let place = Arc::new(Mutex::new(None));
        let launched = Arc::clone(&place);
        let caller = Signal::new();
        let job = Job {
            run: Arc::clone(run),
            caller: Arc::clone(&caller),
            launch: Box::new(move |id| {
                let (launched, token) = launch(id)?;
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(launched);
                Ok(token)
            }),
        };
        if let Some(tell) = told() {
            caller.on_ready(Box::new(move |given_up| {
                given_up.into_iter().for_each(|error| tell(error))
            }));
            self.launcher.launch_here(job)?;
        } else {
            self.launcher.add(job)?;
            if let Some(error) = soon(&caller).unwrap_or_else(|| caller.wait()) {
                return Err(error);
            }
        }
        let launched = launched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        launched.ok_or_else(|| Error::internal("a launch has left nothing"))
    }

    /// Refuses a device that has not come back from a run over several devices.
    pub fn check_device(&self, id: i64) -> Result<()> {
        self.launcher.check_device(id)
    }

    /// No launch will come any more. Whether all runs have ended, or do soon.
    pub fn close(&self) -> bool {
        blocking(|| self.launcher.close())
    }
}

fn soon(signal: &Signal) -> Option<Outcome> {
    blocking(|| look_for(|| signal.poll()))
}

/// Waits for the turn; where the thread has other work, it does that meanwhile: whoever has the turn may need it.
fn wait_for_turn(ticket: &Ticket<'_>) {
    const TURN: Duration = Duration::from_millis(1);
    match attendant() {
        // Whoever has the turn may need Python's lock.
        None => blocking(|| ticket.wait()),
        Some(attendant) => (attendant.attend)(&mut |limit| {
            if !ticket.is_turn() {
                blocking(|| std::thread::park_timeout(limit.min(TURN)));
            }
            ticket.is_turn()
        }),
    }
}

// Not where turns are: loom compiles that file.
#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};

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
        assert!(first.is_turn() && !second.is_turn());
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
