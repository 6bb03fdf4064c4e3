//! A prepared call: all elements of its batch, on several threads where that pays.

use core::cell::RefCell;
use core::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use xla_ffi::{CallFrame, Error, Result};

use super::arena::{self, Work};
use super::batch::Outcome;
use super::instance::Body;
use super::interface::Threads;
use super::prepared::{Plan, Prepared};

/// What is worth another thread.
const WORTH: Duration = Duration::from_micros(100);
/// What tells how long an element takes: the first ones find cold caches, and the clock is read
/// between them.
const SURE: Duration = Duration::from_micros(10);
/// What a thread takes at a time.
const CHUNK: Duration = Duration::from_micros(30);

/// Runs the body.
pub(crate) fn start(
    frame: &mut CallFrame<'_>,
    call: Prepared<'_>,
    body: &Body,
    work: &mut Work,
) -> Result<()> {
    let context = frame.context();
    let frame = RefCell::new(frame);
    let plan = Plan {
        call,
        context: &context,
        pending: &|| Ok(frame.borrow_mut().pending()?.promise()),
    };
    run(&plan, body, work)
}

/// Runs the body for all elements of the batch.
fn run(plan: &Plan<'_>, body: &Body, work: &mut Work) -> Result<()> {
    let count = plan.call.layout.sizes.iter().product::<usize>();
    if plan.call.interface.whole {
        return plan.whole(body, work, count);
    }
    if count == 1 {
        return plan.range(body, work, 0..1).map_err(|(_, error)| error);
    }
    let outcome = match plan.call.interface.threads {
        Threads::Auto if plan.context.num_threads() > 1 => plan.on_threads(body, work, count),
        _ => plan.range(body, work, 0..count),
    };
    outcome.map_err(|(at, error)| {
        let text = format!("{error} (element {} of the batch of {count})", at + 1);
        Error::new(error.code(), text)
    })
}

impl Plan<'_> {
    /// Runs some elements, and those that are left on other threads as well if they take long
    /// enough for that.
    fn on_threads(&self, body: &Body, work: &mut Work, count: usize) -> Outcome {
        let start = Instant::now();
        let (mut done, mut step) = (0, 1);
        while done < count {
            let end = count.min(done + step);
            self.range(body, work, done..end)?;
            done = end;
            let elapsed = start.elapsed();
            if elapsed < SURE {
                step *= 2;
                continue;
            }
            let each = elapsed / u32::try_from(done).unwrap_or(u32::MAX);
            step = (CHUNK.as_nanos() / each.as_nanos().max(1)).max(1) as usize;
            if each * u32::try_from(count - done).unwrap_or(u32::MAX) > WORTH {
                return self.on_pool(body, done..count, step);
            }
        }
        Ok(())
    }

    fn on_pool(&self, body: &Body, elements: Range<usize>, step: usize) -> Outcome {
        let first = AtomicUsize::new(usize::MAX);
        let failed = Mutex::new(None);
        self.context.parallel_for(elements.len(), step, |range| {
            let range = elements.start + range.start..elements.start + range.end;
            // The error is that of the first element, whatever the threads.
            if range.start > first.load(Ordering::Relaxed) {
                return;
            }
            let outcome = arena::with(|arena| self.range(body, &mut arena.work, range));
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
