//! Turns, first come, first served. A lock of the standard library lets a late one pass those that wait.

use crate::base::sync::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::PoisonError;

/// Gives turns in the order in which tickets were taken.
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The number of the next ticket.
    next: u64,
    /// Whose turn it is.
    now: u64,
    /// Those that were given up before it was their turn.
    given_up: BTreeSet<u64>,
}

/// A place in the order. The turn ends when it is dropped; dropped before, it is passed over.
pub(crate) struct Ticket<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn ticket(&self) -> Ticket<'_> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        Ticket {
            turns: self,
            number,
        }
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                next: 0,
                now: 0,
                given_up: BTreeSet::new(),
            }),
            changed: Condvar::new(),
        }
    }
}

impl Ticket<'_> {
    pub fn is_turn(&self) -> bool {
        self.turns.state().now == self.number
    }

    /// Waits for the turn.
    pub fn wait(&self) {
        let mut state = self.turns.state();
        while state.now != self.number {
            let changed = &self.turns.changed;
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        if state.now != self.number {
            state.given_up.insert(self.number);
            return;
        }
        let mut next = self.number + 1;
        while state.given_up.remove(&next) {
            next += 1;
        }
        state.now = next;
        drop(state);
        self.turns.changed.notify_all();
    }
}
