//! Programs under way. XLA has room for some tens of them and then keeps the thread that launches another one, deaf to
//! Ctrl-C, until one is through; each holds the memory of its results. So launches are held back here before.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use pjrt::Buffer;

use crate::host::contents::wait;
use crate::r::entry::routines;
use crate::r::unwind::check_interrupt;
use crate::r::value::Value;
use crate::runtime::leave;

/// XLA's CPU client has room for 32 on each device, of which some may be others'.
const MOST: usize = 24;

/// So many programs may be under way.
static LIMIT: AtomicUsize = AtomicUsize::new(MOST);

thread_local! {
    /// A result of each program that may be under way, in the order of the launches. Only R's thread launches.
    static UNDER_WAY: RefCell<VecDeque<Weak<Buffer>>> = const { RefCell::new(VecDeque::new()) };
}

/// Counts a program by one of its results.
pub fn note(result: &Arc<Buffer>) {
    UNDER_WAY.with_borrow_mut(|list| list.push_back(Arc::downgrade(result)));
}

/// Waits until there is room for one more. The errors of others are not this one's. Within an R function that a program calls nobody
/// waits: it might be for that very program.
pub fn make_room() {
    const TURN: Duration = Duration::from_millis(20);
    if main_thread::is_serving() {
        return;
    }
    let limit = LIMIT.load(Ordering::Relaxed);
    while let Some(oldest) = UNDER_WAY.with_borrow_mut(|list| oldest_of(list, limit)) {
        let _ = wait(&oldest, TURN);
        check_interrupt();
    }
}

/// The first program that is under way, where there are `limit` or more.
fn oldest_of(list: &mut VecDeque<Weak<Buffer>>, limit: usize) -> Option<Arc<Buffer>> {
    if list.len() < limit {
        return None;
    }
    forget(list);
    if list.len() < limit {
        return None;
    }
    let oldest = list.iter().find_map(Weak::upgrade);
    if oldest.is_none() {
        // R has none of the results any more: nobody can tell.
        list.clear();
    }
    oldest
}

/// Forgets programs that are through. Of those whose result R has dropped nobody can tell; they are taken to be through where a later
/// one is.
fn forget(list: &mut VecDeque<Weak<Buffer>>) {
    let mut later_is_through = false;
    let kept = list
        .drain(..)
        .rev()
        .filter(|result| match result.upgrade() {
            None => !later_is_through,
            Some(buffer) => {
                let is_through = buffer.ready().unwrap_or(true);
                later_is_through |= is_through;
                !is_through
            }
        });
    let mut kept: VecDeque<_> = kept.collect();
    kept.make_contiguous().reverse();
    *list = kept;
}

/// Whether there is one that is not through, as far as can be told.
fn is_any_under_way() -> bool {
    UNDER_WAY.with_borrow_mut(|list| {
        forget(list);
        !list.is_empty()
    })
}

routines! {
    // At the end of R's session: what runs now may run on when the process ends.
    fn leave_session() {
        if is_any_under_way() {
            leave::note_running();
        }
        Ok(Value::Null)
    }

    // How many programs may be under way, until now; sets another number where one is given (0: none is).
    fn in_flight_limit(limit: f64) {
        let before = LIMIT.load(Ordering::Relaxed);
        if limit >= 1.0 {
            LIMIT.store(limit as usize, Ordering::Relaxed);
        }
        Ok(Value::from(before as f64))
    }
}
