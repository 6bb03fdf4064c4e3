//! The loops around those of [`super::pair`], the same for all types.

use super::pair::Pair;
use super::plan::{Axis, Plan};
use super::stream;
use super::transpose::{strips, Runs};

/// From this many bytes on, an array is large: more threads are worth their start, and the result
/// would not stay in cache anyway.
pub(super) const LARGE: usize = if cfg!(miri) { 8 << 10 } else { 4 << 20 };
/// So many bytes are a few hundredths of a second, a tenth or two where their pages are new.
const UNINTERRUPTED: usize = if cfg!(miri) { 32 << 10 } else { 64 << 20 };
/// Shorter runs, in bytes, hold too few whole cache lines to write them past the caches.
const RUN: usize = 512;
/// Memory is the limit; more threads than this do not help.
const MAX_THREADS: usize = 4;

/// A pointer that may go to another thread.
#[derive(Clone, Copy)]
struct Across<T>(T);
// SAFETY: used for pieces of a plan, which touch different elements of the destination.
unsafe impl<T> Send for Across<T> {}

impl<T: Copy> Across<T> {
    fn get(self) -> T {
        self.0
    }
}

/// Converts a whole array from `from` to `to`. Between two pieces of a large one `pause` is called, on
/// this thread; where it panics the rest is left as it was.
///
/// # Safety
/// The caller owns both memories for the call; all elements that the plan reaches lie inside
/// them, and `pair` is of the types of the elements there. No alignment is needed.
pub(super) unsafe fn convert(
    plan: &Plan,
    pair: &Pair,
    from: *const u8,
    to: *mut u8,
    pause: &dyn Fn(),
) {
    let bytes = plan.elements() * pair.to.max(pair.from);
    if bytes == 0 {
        return;
    }
    if bytes < LARGE {
        // SAFETY: the caller's promise.
        return unsafe { walk(plan, &plan.outer, pair, false, from, to) };
    }
    let pieces = plan.split(bytes.div_ceil(UNINTERRUPTED));
    for (i, (piece, source, target)) in pieces.iter().enumerate() {
        if i > 0 {
            pause();
        }
        let (source, target) = (source * pair.from as isize, target * pair.to as isize);
        // SAFETY: the caller's promise, and a piece of the plan lies within what the plan reaches.
        unsafe { threads(piece, pair, from.offset(source), to.offset(target)) };
    }
}

/// Converts pieces of a plan, each on a thread.
///
/// # Safety
/// As [`convert`].
unsafe fn threads(plan: &Plan, pair: &Pair, from: *const u8, to: *mut u8) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
    let mut pieces = plan.split(threads);
    let last = pieces.pop();
    let run = |(plan, source, target): &(Plan, isize, isize), f: *const u8, t: *mut u8| {
        let (source, target) = (source * pair.from as isize, target * pair.to as isize);
        // SAFETY: a piece of the plan lies within what the plan reaches.
        unsafe {
            walk(
                plan,
                &plan.outer,
                pair,
                true,
                f.offset(source),
                t.offset(target),
            )
        };
        stream::finish();
    };
    std::thread::scope(|scope| {
        for piece in &pieces {
            let (f, t) = (Across(from), Across(to));
            let started = std::thread::Builder::new()
                .name("pjrt-convert".into())
                .spawn_scoped(scope, move || run(piece, f.get(), t.get()));
            if started.is_err() {
                // No more threads to be had: then here.
                run(piece, from, to);
            }
        }
        if let Some(piece) = &last {
            run(piece, from, to);
        }
    });
}

/// # Safety
/// All elements that the plan reaches from `from` and `to` are inside memory that the caller owns.
unsafe fn walk(
    plan: &Plan,
    outer: &[Axis],
    pair: &Pair,
    large: bool,
    from: *const u8,
    to: *mut u8,
) {
    let (a, b) = (plan.a, plan.b);
    let sizes = (pair.from as isize, pair.to as isize);
    // SAFETY: the loops stay within the plan.
    unsafe {
        match outer.split_last() {
            Some((axis, rest)) => {
                for i in 0..axis.len as isize {
                    let f = from.offset(i * axis.from * sizes.0);
                    walk(plan, rest, pair, large, f, to.offset(i * axis.to * sizes.1));
                }
            }
            None if b.len == 1 && a.from == 1 && a.to == 1 => {
                if large && a.len >= RUN {
                    stream::line(pair, from, to, a.len);
                } else {
                    pair.line(from, to, a.len);
                }
            }
            None if b.len > 1 && a.from == 1 && b.to == 1 => {
                let runs = Runs {
                    rows: a.len,
                    columns: b.len,
                    steps: (b.from * sizes.0, a.to * sizes.1),
                    from,
                    to,
                };
                if large && b.len * pair.to >= RUN {
                    stream::transpose(pair, runs);
                } else {
                    strips(pair, runs);
                }
            }
            None => {
                let (inner, outer) = if b.len == 1 { (a, b) } else { (b, a) };
                for i in 0..outer.len as isize {
                    (pair.run)(
                        from.offset(i * outer.from * sizes.0),
                        inner.from * sizes.0,
                        to.offset(i * outer.to * sizes.1),
                        inner.to * sizes.1,
                        inner.len,
                    );
                }
            }
        }
    }
}
