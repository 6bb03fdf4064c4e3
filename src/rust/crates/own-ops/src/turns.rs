//! The elements of a batch on several threads, where that pays.

use core::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::batch::{Outcome, Plan};
use crate::room::{self, Work};

/// What is worth another thread.
const WORTH: Duration = Duration::from_micros(100);
/// What tells how long an element takes: the first ones find cold caches, and the clock is read
/// between them.
const SURE: Duration = Duration::from_micros(10);
/// What a thread takes at a time.
const TURN: Duration = Duration::from_micros(30);

impl Plan<'_> {
    /// Runs some elements, and those that are left on other threads as well if they take long
    /// enough for that.
    pub(crate) fn on_threads(&self, work: &mut Work, count: usize) -> Outcome {
        let start = Instant::now();
        let (mut done, mut step) = (0, 1);
        while done < count {
            let end = count.min(done + step);
            self.range(work, done..end)?;
            done = end;
            let elapsed = start.elapsed();
            if elapsed < SURE {
                step *= 2;
                continue;
            }
            let each = elapsed / u32::try_from(done).unwrap_or(u32::MAX);
            step = (TURN.as_nanos() / each.as_nanos().max(1)).max(1) as usize;
            if each * u32::try_from(count - done).unwrap_or(u32::MAX) > WORTH {
                return self.in_turns(done..count, step);
            }
        }
        Ok(())
    }

    fn in_turns(&self, elements: Range<usize>, step: usize) -> Outcome {
        let first = AtomicUsize::new(usize::MAX);
        let failed = Mutex::new(None);
        self.context.parallel_for(elements.len(), step, |range| {
            let range = elements.start + range.start..elements.start + range.end;
            // The error that is told is that of the first element, whatever the threads.
            if range.start > first.load(Ordering::Relaxed) {
                return;
            }
            let outcome = room::with(|room| self.range(&mut room.work, range));
            if let Err((at, error)) = outcome {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if at < first.load(Ordering::Relaxed) {
                    first.store(at, Ordering::Relaxed);
                    *failed = Some((at, error));
                }
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), Err)
    }
}
