//! XLA's intra-op thread pool: work that borrows, and a call that returns only when it is done.

use core::ffi::c_void;
use core::mem::size_of;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

use crate::context::{api_fn, service, Context};
use crate::error::Result;
use crate::float_mode::GradualUnderflow;
use crate::fork_join::ForkJoin;
use crate::panics::discard;
use crate::sys;

unsafe extern "C" fn help(fork_join: *mut c_void) {
    // SAFETY: from `Arc::into_raw` in `fan_out`; each task owns one count.
    let fork_join = unsafe { Arc::from_raw(fork_join.cast_const().cast::<ForkJoin>()) };
    let _mode = GradualUnderflow::new();
    if let Some(surplus) = fork_join.help() {
        discard(surplus);
    }
}

unsafe extern "C" fn run_boxed(task: *mut c_void) {
    type Task = Box<dyn FnOnce() + Send>;
    // SAFETY: from `Box::into_raw` in `schedule`, run once.
    let task = unsafe { Box::from_raw(task.cast::<Task>()) };
    let _mode = GradualUnderflow::new();
    // Nobody waits for it, so the panic hook's message is all that can be told; XLA must not be
    // unwound.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(*task)) {
        discard(payload);
    }
}

impl Context<'_> {
    /// Threads of XLA's intra-op pool; 1 where there is no pool.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        let mut threads = 0i64;
        let asked = service!(
            self,
            XLA_FFI_ThreadPool_NumThreads,
            XLA_FFI_ThreadPool_NumThreads_Args {
                num_threads: &mut threads
            }
        );
        match asked {
            Ok(_) => usize::try_from(threads).unwrap_or(1).max(1),
            Err(_) => 1,
        }
    }

    /// Runs `task` on the pool, some time. It must not rely on the call still lasting; a panic ends
    /// with it.
    ///
    /// # Errors
    /// The platform has no pool; `task` was dropped.
    pub fn schedule(&self, task: impl FnOnce() + Send + 'static) -> Result<()> {
        let task: Box<dyn FnOnce() + Send> = Box::new(task);
        let task = Box::into_raw(Box::new(task));
        // SAFETY: `run_boxed` takes such a box.
        let scheduled = unsafe { self.schedule_raw(run_boxed, task.cast()) };
        if scheduled.is_err() {
            // SAFETY: XLA did not take it, so it is still ours.
            drop(unsafe { Box::from_raw(task) });
        }
        scheduled
    }

    /// # Safety
    /// `task` may be called once, from any thread, with `data`.
    unsafe fn schedule_raw(&self, task: sys::XLA_FFI_Task, data: *mut c_void) -> Result<()> {
        service!(
            self,
            XLA_FFI_ThreadPool_Schedule,
            XLA_FFI_ThreadPool_Schedule_Args {
                task: Some(task),
                data
            }
        )
        .map(drop)
    }

    /// Calls `f` with ranges of at most `chunk` (at least 1) that together are `0..count`, on the
    /// caller's thread and on the pool's, and returns when all is done. The ranges do not depend on
    /// the number of threads.
    ///
    /// # Panics
    /// With the payload of a call of `f` that panicked, after all others have returned.
    pub fn parallel_for(&self, count: usize, chunk: usize, f: impl Fn(Range<usize>) + Sync) {
        let chunk = chunk.max(1);
        let chunks = count.div_ceil(chunk);
        let next = AtomicUsize::new(0);
        self.fan_out(chunks, &|| loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= chunks {
                return;
            }
            let start = i * chunk;
            f(start..start.saturating_add(chunk).min(count));
        });
    }

    /// Calls `f` with every item, on the caller's thread and on the pool's, and returns when all is
    /// done. For results, let the items be chunks:
    /// `lu.chunks_exact_mut(m * n).zip(pivots.chunks_exact_mut(k))`.
    /// An item costs a lock, so let it be worth a microsecond or more.
    ///
    /// # Panics
    /// With the payload of a call of `f` that panicked, after all others have returned.
    pub fn parallel_for_each<I>(&self, items: I, f: impl Fn(I::Item) + Sync)
    where
        I: IntoIterator,
        I::IntoIter: Send,
        I::Item: Send,
    {
        let items = items.into_iter();
        let at_most = items.size_hint().1.unwrap_or(usize::MAX);
        let items = Mutex::new(items);
        // An iterator that panicked is not asked again.
        let next = || items.lock().ok().and_then(|mut items| items.next());
        self.fan_out(at_most, &|| {
            while let Some(item) = next() {
                f(item);
            }
        });
    }

    /// Runs `work` on the caller's thread, and on up to `at_most - 1` of the pool's at the same
    /// time.
    fn fan_out(&self, at_most: usize, work: &(dyn Fn() + Sync)) {
        let helpers = if at_most <= 1 {
            0
        } else {
            self.num_threads().min(at_most) - 1
        };
        if helpers == 0 {
            return work();
        }
        // SAFETY: only the lifetime changes; `close_and_wait` below keeps every use within it.
        let work_forever = unsafe {
            core::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync + 'static)>(
                ptr::from_ref(work),
            )
        };
        // SAFETY: `close_and_wait` is below, and nothing before it panics.
        let fork_join = Arc::new(unsafe { ForkJoin::new(work_forever) });
        for _ in 0..helpers {
            let count = Arc::into_raw(Arc::clone(&fork_join));
            // SAFETY: `help` takes such a count.
            if unsafe { self.schedule_raw(help, count.cast_mut().cast()) }.is_err() {
                // SAFETY: XLA did not take it, so it is still ours.
                drop(unsafe { Arc::from_raw(count) });
                break;
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let panic = fork_join.close_and_wait();
        match (outcome, panic) {
            (Err(payload), other) => {
                other.into_iter().for_each(discard);
                resume_unwind(payload);
            }
            (Ok(()), Some(payload)) => resume_unwind(payload),
            (Ok(()), None) => {}
        }
    }
}
