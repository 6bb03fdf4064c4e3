//! Memory on devices that R objects keep.
//!
//! R collects when its own heap has grown, and a buffer is a few bytes there. So what buffers hold is
//! counted here, and R is asked to collect: its youngest objects each time that some more came to be, and all of
//! them where what is held passes a bound that follows what was left after the last time, as R's own bounds do; and
//! once where a device has no room.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use extendr_ffi::{Rf_protect, Rf_unprotect};

use crate::r::call::call_base;
use crate::r::failure::{Failure, Outcome};
use crate::r::unwind::protect;

extern "C-unwind" {
    fn R_gc();
    fn Rf_ScalarLogical(value: c_int) -> *mut c_void;
}

/// Up to here a collection of all objects costs more than the memory: some 60 ms.
const LEAST: usize = 512 << 20;

/// After how many bytes the youngest objects are collected, which takes a millisecond. New memory costs as much for a few
/// megabytes: the system fills it with zeros, and it is in no cache.
const YOUNG_BYTES: std::ops::RangeInclusive<usize> = 32 << 20..=256 << 20;

/// ... and after how many results at least: that which the caller has at the time of a collection is none of the youngest
/// afterwards, and stays until more is collected.
const YOUNG_RESULTS: usize = 4;

/// Bytes of all buffers that R objects keep.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// From where on R is asked to collect.
static BOUND: AtomicUsize = AtomicUsize::new(LEAST);
/// Bytes of buffers that came to be since the last collection.
static YOUNG: AtomicUsize = AtomicUsize::new(0);

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

fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// To be called before R objects keep so many bytes more. R may collect: what is not protected goes.
pub fn expect(bytes: usize) {
    // What R has collected by itself is not among the youngest any more, and lowers the bound.
    let mut young = YOUNG.load(Ordering::Relaxed).min(held());
    let results = bytes.saturating_mul(YOUNG_RESULTS);
    let most = results.clamp(*YOUNG_BYTES.start(), *YOUNG_BYTES.end());
    if young > 0 && young.saturating_add(bytes) > most {
        collect_young();
        young = 0;
    }
    YOUNG.store(young.saturating_add(bytes), Ordering::Relaxed);
    let bound = BOUND.load(Ordering::Relaxed).min(LEAST.max(4 * held()));
    if held() == 0 || held().saturating_add(bytes) <= bound {
        BOUND.store(bound, Ordering::Relaxed);
    } else {
        collect();
    }
}

/// Collects where memory is short, and gives back to the system what plugins have freed.
pub fn make_room() {
    collect();
    block_cache::give_back();
}

/// Collects, and sets the next bound.
fn collect() {
    // SAFETY: only functions that R called get here, on R's thread.
    unsafe { protect(|| R_gc()) };
    BOUND.store(LEAST.max(2 * held()), Ordering::Relaxed);
}

/// Collects the objects that came to be since the last collection.
fn collect_young() {
    // SAFETY: as above; what is allocated is protected, and nothing is to be freed at a jump.
    unsafe {
        protect(|| {
            let no = Rf_protect(Rf_ScalarLogical(0).cast());
            // gc(verbose, reset, full)
            call_base(c"gc", &[no, no, no]);
            Rf_unprotect(1);
        });
    }
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
        make_room();
        work().map_err(|_| failure)
    })
}
