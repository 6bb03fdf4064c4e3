//! Calls, time and bytes, by name.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use super::super::trampoline::CAPACITY;
use super::super::Registry;
use super::Open;

/// Counts the calls of every handler for as long as it lives.
#[derive(Debug)]
#[must_use = "it counts for as long as it lives"]
pub struct Profile(Arc<Counters>);

/// What the calls of a handler came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The target.
    pub target: String,
    /// The platform.
    pub platform: String,
    /// How many calls.
    pub calls: u64,
    /// How many of them returned an error.
    pub errors: u64,
    /// Time until the handler returned: what it does later, on other threads or on the device, does
    /// not count. That of handlers that it calls does.
    pub total: Duration,
    /// The shortest call's.
    pub min: Duration,
    /// The longest call's.
    pub max: Duration,
    /// Bytes of operands.
    pub bytes_in: u64,
    /// Bytes of results.
    pub bytes_out: u64,
    /// On how many threads it ran (256 at most are told apart).
    pub threads: u32,
}

impl Profile {
    /// Begins.
    pub fn start() -> Self {
        let counters = Arc::new(Counters::new());
        Open::change(|open| open.profiles.push(Arc::clone(&counters)));
        Profile(counters)
    }

    /// Ends: calls from now on are not counted.
    pub fn stop(&self) {
        Open::change(|open| open.profiles.retain(|one| !Arc::ptr_eq(one, &self.0)));
    }

    /// What was counted so far, the handler that took most time first.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let names = Registry::global().list();
        let rows = names.into_iter().zip(self.0.slots.iter());
        let rows = rows.filter_map(|(entry, counter)| {
            let calls = counter.calls.load(Relaxed);
            let time = |nanoseconds: &AtomicU64| Duration::from_nanos(nanoseconds.load(Relaxed));
            (calls > 0).then(|| Row {
                target: entry.target,
                platform: entry.platform,
                calls,
                errors: counter.errors.load(Relaxed),
                total: time(&counter.total),
                min: time(&counter.min),
                max: time(&counter.max),
                bytes_in: counter.bytes_in.load(Relaxed),
                bytes_out: counter.bytes_out.load(Relaxed),
                threads: counter
                    .threads
                    .iter()
                    .map(|t| t.load(Relaxed).count_ones())
                    .sum(),
            })
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total));
        rows
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One for each slot of the registry.
pub(super) struct Counters {
    slots: Box<[Counter]>,
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

/// A cache line and more for each, so that names do not slow each other down.
#[repr(align(128))]
struct Counter {
    calls: AtomicU64,
    errors: AtomicU64,
    total: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    threads: [AtomicU64; 4],
}

/// Of operands and of results.
pub(super) type Bytes = (u64, u64);

impl Counters {
    fn new() -> Self {
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
