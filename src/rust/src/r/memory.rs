//! Memory on devices that R objects keep.
//!
//! R collects when its own heap has grown, and a buffer is a few bytes there. So what buffers hold is
//! counted here, and R is asked to collect where it passes a bound that follows what was left after
//! the last time, as R's own bounds do; and once where a device has no room.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::r::failure::{Failure, Outcome};
use crate::r::unwind::protect;

extern "C-unwind" {
    fn R_gc();
}

/// Up to here a collection costs more than the memory.
const LEAST: usize = 256 << 20;

/// Bytes of all buffers that R objects keep.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// From where on R is asked to collect.
static BOUND: AtomicUsize = AtomicUsize::new(LEAST);

/// Bytes that an R object keeps, counted while this lives.
pub struct Held(usize);

impl Held {
    /// Counts them.
    pub fn new(bytes: usize) -> Self {
        HELD.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// To be called before R objects keep so many bytes more. R may collect: what is not protected goes.
pub fn expect(bytes: usize) {
    let held = HELD.load(Ordering::Relaxed);
    // What R has collected by itself lowers the bound.
    let bound = BOUND.load(Ordering::Relaxed).min(LEAST.max(4 * held));
    if held == 0 || held.saturating_add(bytes) <= bound {
        BOUND.store(bound, Ordering::Relaxed);
    } else {
        collect();
    }
}

/// Collects, and sets the next bound.
pub fn collect() {
    // SAFETY: only functions that R called get here, on R's thread.
    unsafe { protect(|| R_gc()) };
    let held = HELD.load(Ordering::Relaxed);
    BOUND.store(LEAST.max(2 * held), Ordering::Relaxed);
}

/// Whether collecting may help against a failure.
pub fn is_exhausted(failure: &Failure) -> bool {
    failure.code == "RESOURCE_EXHAUSTED"
}

/// Does `work`, and once more after a collection where memory was short. It may have been the last
/// word of its arguments: then the first failure says more.
pub fn retried<T>(work: impl Fn() -> Outcome<T>) -> Outcome<T> {
    work().or_else(|failure| {
        if !is_exhausted(&failure) {
            return Err(failure);
        }
        collect();
        work().map_err(|_| failure)
    })
}
