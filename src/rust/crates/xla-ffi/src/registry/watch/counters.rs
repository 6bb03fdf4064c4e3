//! Counters of calls, one for each slot of the registry.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::registry::slots::CAPACITY;

/// One for each slot of the registry.
pub(super) struct Counters {
    pub(super) slots: Box<[Counter]>,
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

/// A cache line and more for each, so that names do not slow each other down.
#[repr(align(128))]
pub(super) struct Counter {
    pub(super) calls: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) total: AtomicU64,
    pub(super) min: AtomicU64,
    pub(super) max: AtomicU64,
    pub(super) bytes_in: AtomicU64,
    pub(super) bytes_out: AtomicU64,
    pub(super) threads: [AtomicU64; 4],
}

/// Of operands and of results.
pub(super) type Bytes = (u64, u64);

impl Counters {
    pub(super) fn new() -> Self {
        let counter = || Counter {
            calls: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            total: AtomicU64::new(0),
            min: AtomicU64::new(u64::MAX),
            max: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            threads: Default::default(),
        };
        Counters {
            slots: (0..CAPACITY).map(|_| counter()).collect(),
        }
    }

    pub(super) fn count(&self, slot: usize, time: Duration, bytes: Bytes, failed: bool) {
        let counter = &self.slots[slot];
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        counter.total.fetch_add(time, Relaxed);
        counter.min.fetch_min(time, Relaxed);
        counter.max.fetch_max(time, Relaxed);
        counter.bytes_in.fetch_add(bytes.0, Relaxed);
        counter.bytes_out.fetch_add(bytes.1, Relaxed);
        counter.errors.fetch_add(u64::from(failed), Relaxed);
        let thread = thread_number() % 256;
        let (word, bit) = (&counter.threads[thread / 64], 1u64 << (thread % 64));
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
        counter.calls.fetch_add(1, Relaxed);
    }
}

/// A small number for this thread.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Relaxed);
    }
    NUMBER.with(|number| *number)
}
