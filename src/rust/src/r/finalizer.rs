//! Freeing what R has collected.

use std::cell::{Cell, RefCell};

thread_local! {
    static DEFERRED: Cell<bool> = const { Cell::new(false) };
    static LATER: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Calls R where nothing must be freed: it is freed with what R collects next.
pub fn deferred<T>(call: impl FnOnce() -> T) -> T {
    DEFERRED.set(true);
    let result = call();
    DEFERRED.set(false);
    result
}

/// Frees what R has collected: later, where R is showing text of a program under way, whose locks
/// the plugin may hold.
pub fn free(value: impl FnOnce() + 'static) {
    if DEFERRED.get() {
        return LATER.with_borrow_mut(|later| later.push(Box::new(value)));
    }
    value();
    for value in LATER.take() {
        value();
    }
}
