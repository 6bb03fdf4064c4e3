//! The loops.

use super::plan::{Axis, Plan};
use super::scalar::Cast;
use super::stream;
use std::ops::Range;

/// Rows and columns of the tiles that are transposed at once: with 8-byte elements a row is a
/// cache line.
pub(super) const TILE: usize = 8;
/// Length of a strip of tiles along the source's runs, so that the destination's lines that it
/// touches stay in cache until they are full.
const STRIP: usize = 256;
/// From this many bytes on, an array is large: more threads are worth their start, and the result
/// would not stay in cache anyway.
pub(super) const LARGE: usize = 4 << 20;
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

/// Converts a whole array from `from` to `to`.
///
/// The caller owns both memories for the call; all elements that the plan reaches lie inside
/// them, and `S` and `D` are the types of the elements there. No alignment is needed.
pub(super) fn convert<S: Cast<D>, D: Copy>(plan: &Plan, from: *const u8, to: *mut u8) {
    let bytes = plan.elements() * size_of::<D>().max(size_of::<S>());
    if bytes == 0 {
        return;
    }
    if bytes < LARGE {
        // SAFETY: the caller's promise.
        return unsafe { part::<S, D>(plan, false, from, to) };
    }
    threads(
        plan,
        part::<S, D>,
        [size_of::<S>(), size_of::<D>()],
        from,
        to,
    );
}

/// Runs `part` on pieces of a plan, each on a thread; elements have the given `sizes`. Apart from
/// [`convert`], so that it is compiled once for all pairs of types.
fn threads(
    plan: &Plan,
    part: unsafe fn(&Plan, bool, *const u8, *mut u8),
    sizes: [usize; 2],
    from: *const u8,
    to: *mut u8,
) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
    let mut pieces = plan.split(threads);
    let last = pieces.pop();
    let run = |(plan, source, target): &(Plan, isize, isize), f: *const u8, t: *mut u8| {
        let (source, target) = (source * sizes[0] as isize, target * sizes[1] as isize);
        // SAFETY: a piece of the plan lies within what the plan reaches.
        unsafe { part(plan, true, f.offset(source), t.offset(target)) };
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
/// As [`walk`], with elements of type `S` and `D`.
unsafe fn part<S: Cast<D>, D: Copy>(plan: &Plan, large: bool, from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { walk(plan, &plan.outer, large, from.cast::<S>(), to.cast::<D>()) };
}

/// # Safety
/// All elements that the plan reaches from `from` and `to` are inside memory that the caller owns.
unsafe fn walk<S: Cast<D>, D: Copy>(
    plan: &Plan,
    outer: &[Axis],
    large: bool,
    from: *const S,
    to: *mut D,
) {
    let (a, b) = (plan.a, plan.b);
    // SAFETY: the loops stay within the plan.
    unsafe {
        match outer.split_last() {
            Some((axis, rest)) => {
                for i in 0..axis.len as isize {
                    let (f, t) = (from.offset(i * axis.from), to.offset(i * axis.to));
                    walk(plan, rest, large, f, t);
                }
            }
            None if b.len == 1 && a.from == 1 && a.to == 1 => {
                if large && a.len >= RUN {
                    stream::line(from, to, a.len);
                } else {
                    line(from, to, a.len);
                }
            }
            None if b.len > 1 && a.from == 1 && b.to == 1 => {
                if large && b.len * size_of::<D>() >= RUN {
                    stream::transpose(a, b, from, to);
                } else {
                    tiles(a, b, from, to);
                }
            }
            None => rest(a, b, 0..a.len, 0..b.len, from, to),
        }
    }
}

/// # Safety
/// `len` elements are inside either memory.
unsafe fn line<S: Cast<D>, D: Copy>(from: *const S, to: *mut D, len: usize) {
    for i in 0..len {
        // SAFETY: the caller's promise.
        unsafe {
            let x = from.add(i).read_unaligned();
            to.add(i).write_unaligned(x.cast());
        }
    }
}

/// Two dimensions, `a` consecutive in the source and `b` in the destination.
///
/// # Safety
/// As [`walk`].
unsafe fn tiles<S: Cast<D>, D: Copy>(a: Axis, b: Axis, from: *const S, to: *mut D) {
    let (rows, columns) = (a.len / TILE * TILE, b.len / TILE * TILE);
    // SAFETY: all indices are within the axes.
    unsafe {
        for strip in (0..rows).step_by(STRIP) {
            for j in (0..columns).step_by(TILE) {
                for i in (strip..rows.min(strip + STRIP)).step_by(TILE) {
                    let (i, j) = (i as isize, j as isize);
                    let (f, t) = (from.offset(i + j * b.from), to.offset(i * a.to + j));
                    tile(f, b.from, t, a.to);
                }
            }
        }
        // What is left of whole tiles: the last columns, then the last rows.
        rest(a, b, 0..rows, columns..b.len, from, to);
        rest(a, b, rows..a.len, 0..b.len, from, to);
    }
}

/// # Safety
/// As [`walk`]; the ranges lie within the axes.
unsafe fn rest<S: Cast<D>, D: Copy>(
    a: Axis,
    b: Axis,
    rows: Range<usize>,
    columns: Range<usize>,
    from: *const S,
    to: *mut D,
) {
    for i in rows {
        for j in columns.clone() {
            let (i, j) = (i as isize, j as isize);
            // SAFETY: both indices are within the axes.
            unsafe {
                let x = from.offset(i * a.from + j * b.from).read_unaligned();
                to.offset(i * a.to + j * b.to).write_unaligned(x.cast());
            }
        }
    }
}

/// Transposes one tile.
///
/// # Safety
/// `TILE` runs of `TILE` elements, the given strides apart, are inside either memory.
#[inline(always)]
pub(super) unsafe fn tile<S: Cast<D>, D: Copy>(
    from: *const S,
    step: isize,
    to: *mut D,
    to_step: isize,
) {
    for i in 0..TILE as isize {
        for j in 0..TILE as isize {
            // SAFETY: the caller's promise.
            unsafe {
                let x = from.offset(i + j * step).read_unaligned();
                to.offset(i * to_step + j).write_unaligned(x.cast());
            }
        }
    }
}
