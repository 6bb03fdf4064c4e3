//! Calls, time and bytes, by name.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use super::counters::Counters;
use super::open::Open;
use crate::registry::state::Registry;

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
