//! The way through a batch that all routines share: one part after the other, on XLA's threads
//! where that pays. What is computed for a matrix does not depend on the thread or on its
//! neighbours.

use super::{xla_error, Batch};
use lanes::{Blocks, NoMemory, Together};
use lapack::{with_stack, Turn, Work};
use std::sync::{Mutex, PoisonError};
use xla_ffi::{Context, Result};

/// Floating-point operations of LAPACK's below which a batch is not worth waking a thread for, and
/// what a thread takes from the batch at once: a lock is worth that much.
const ONE_THREAD: f64 = 100e3;
const AT_ONCE: f64 = 20e3;

/// The same of [costs in lanes](cost_in_lanes), where there are several operations at once.
const ONE_THREAD_IN_LANES: f64 = 400e3;
const AT_ONCE_IN_LANES: f64 = 100e3;

/// A run of matrices is a multiple of this, so that only the last block of a batch is not full.
const FULL: usize = 16;

/// Operations from which on a matrix is left to LAPACK's own threads; below, LAPACK has one on each
/// thread of ours. What is computed depends on this, and so not on the rest of the batch.
const LARGE: f64 = 4e6;

/// The same of eigenvalues and singular values, most of which are reflections and rotations that LAPACK's threads
/// hardly speed up: some 300 columns.
const LARGE_SPECTRUM: f64 = 170e6;

/// What an item costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    flops: f64,
    /// Operations from which on it is left to LAPACK's own threads.
    large: f64,
}

impl From<f64> for Cost {
    fn from(flops: f64) -> Self {
        Cost {
            flops,
            large: LARGE,
        }
    }
}

impl Cost {
    /// That of eigenvalues or singular values.
    pub fn of_spectrum(flops: f64) -> Self {
        Cost {
            flops,
            large: LARGE_SPECTRUM,
        }
    }
}

/// Calls `f` with every item and the thread's workspace. `cost` is what one item costs.
///
/// # Errors
/// One of `f`'s or of `workspace`'s; the items after it may be missing.
pub fn for_each<I, W>(
    cx: &Context<'_>,
    cost: impl Into<Cost>,
    items: I,
    workspace: impl Fn() -> lapack::Result<W> + Sync,
    f: impl Fn(&mut W, I::Item) -> lapack::Result<()> + Sync,
) -> Result<()>
where
    I: ExactSizeIterator + Send,
    I::Item: Send,
{
    let Cost { flops, large } = cost.into();
    let count = items.len();
    let threads = if flops >= large || flops * count as f64 <= ONE_THREAD {
        1
    } else {
        cx.num_threads().min(count)
    };
    let whose = if flops >= large {
        Work::Library
    } else {
        Work::Ours
    };
    // No more than an equal part, so that every thread gets one.
    let at_once = (AT_ONCE / flops.max(1.0)) as usize;
    let at_once = at_once.clamp(1, count.div_ceil(threads).max(1));
    let items = Mutex::new(items);
    in_threads(cx, threads, whose, &|| {
        let take = |group: &mut Vec<I::Item>| {
            let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
            group.extend(items.by_ref().take(at_once));
            !group.is_empty()
        };
        let mut group = Vec::with_capacity(at_once);
        if !take(&mut group) {
            return Ok(());
        }
        let mut workspace = workspace()?;
        loop {
            for item in group.drain(..) {
                f(&mut workspace, item)?;
            }
            if !take(&mut group) {
                return Ok(());
            }
        }
    })
}

/// The workspace of routines that need none.
pub fn no_workspace() -> lapack::Result<()> {
    Ok(())
}

/// Runs `work` with room on the stack, on that many threads at once. Not generic: what calls it is
/// compiled for every routine and dtype.
fn in_threads(
    cx: &Context<'_>,
    threads: usize,
    whose: Work,
    work: &(dyn Fn() -> lapack::Result<()> + Sync),
) -> Result<()> {
    let turn = Turn::new(whose);
    let work = || {
        with_stack(|| {
            let _here = turn.enter();
            work()
        })
    };
    if threads <= 1 {
        return work().map_err(xla_error);
    }
    let failure: Mutex<Option<lapack::Error>> = Mutex::new(None);
    cx.parallel_for(threads, 1, |_| {
        if let Err(error) = work() {
            failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error);
        }
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), |error| Err(xla_error(error)))
}

/// Operations that bringing an element into lanes and back is worth. Of 4 x 4 matrices that is most of the time.
const ELEMENT: f64 = 10.0;

/// What a matrix costs that is computed in lanes.
pub fn cost_in_lanes(flops: f64, elements: usize) -> f64 {
    flops + ELEMENT * elements as f64
}

/// Matrices that a thread computes at once where they are computed in lanes; `cost` is what one costs.
pub fn run_length((cx, shape): Batch<'_>, cost: f64) -> usize {
    full_or_share(shape.count, cx.num_threads(), cost)
}

/// Full blocks, or no more than an equal part where that is worth a thread: one matrix on each thread is done before
/// a block is that has one in each lane.
fn full_or_share(count: usize, threads: usize, cost: f64) -> usize {
    let worth = worth_a_lock(cost);
    let share = count.div_ceil(threads.max(1));
    worth.next_multiple_of(FULL).min(share.max(worth))
}

fn worth_a_lock(cost: f64) -> usize {
    ((AT_ONCE_IN_LANES / cost.max(1.0)) as usize).max(1)
}

/// [`run_length`], or less for matrices that `blocks` do not hold: they are computed one after the other, so that no
/// block of them is to be full.
pub fn run_length_of(batch: Batch<'_>, blocks: Blocks, cost: f64) -> usize {
    let (rows, cols, _) = batch.1.sizes();
    if blocks.hold(rows, cols) {
        run_length(batch, cost)
    } else {
        worth_a_lock(cost)
    }
}

/// Calls `f` with every run of matrices, and with the threads that help with a large one, for `Vectorised::in_lanes`.
/// `cost` is what a
/// matrix costs.
///
/// # Errors
/// There is no memory to work in; some runs may be computed.
pub fn for_each_run<I>(
    (cx, shape): Batch<'_>,
    cost: f64,
    mut runs: I,
    f: impl Fn(I::Item, Together<'_>) -> std::result::Result<(), NoMemory> + Sync,
) -> Result<()>
where
    I: Iterator + Send,
    I::Item: Send,
{
    let done = if cost * shape.count as f64 <= ONE_THREAD_IN_LANES {
        runs.try_for_each(|run| f(run, lanes::ALONE))
    } else {
        let together = Together {
            threads: cx.num_threads(),
            run: &|threads, work| cx.parallel_for(threads, 1, |_| work()),
        };
        let failure = Mutex::new(Ok(()));
        cx.parallel_for_each(runs, |run| {
            if let Err(error) = f(run, together) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    };
    done.map_err(|NoMemory { bytes }| xla_error(lapack::Error::NoMemory { bytes }))
}

/// `data` in parts of `len` elements, which may be 0; the last one may be shorter.
pub fn split<T>(
    data: &mut [T],
    len: usize,
    count: usize,
) -> impl ExactSizeIterator<Item = &mut [T]> {
    let mut rest = data;
    (0..count).map(move |_| {
        let all = std::mem::take(&mut rest);
        let (part, others) = all.split_at_mut(len.min(all.len()));
        rest = others;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_full_or_an_equal_share() {
        let large = 2.5e6;
        assert_eq!(full_or_share(2, 8, large), 1);
        assert_eq!(full_or_share(16, 4, large), 4);
        assert_eq!(full_or_share(1000, 4, large), FULL);
        assert_eq!(full_or_share(16, 1, large), FULL);
        // Less than a lock is worth is not shared out.
        assert_eq!(full_or_share(1000, 1000, 1e3), 100);
        assert_eq!(full_or_share(1, 0, 0.0), 100_000);
    }
}
