//! The loops.

use super::plan::{Axis, Plan};
use super::scalar::Cast;

/// Rows and columns of the tiles that are transposed at once: with 8-byte elements a row is a
/// cache line, and the tile fits into registers and first-level cache.
const TILE: usize = 8;
/// Length of a strip of tiles along the source's runs, so that the destination's lines that it
/// touches stay in cache until they are full.
const STRIP: usize = 256;
/// From this many bytes on, more threads are worth their start.
const PARALLEL: usize = 4 << 20;
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
    let (from, to) = (from.cast::<S>(), to.cast::<D>());
    let bytes = plan.elements() * size_of::<D>().max(size_of::<S>());
    if bytes == 0 {
        return;
    }
    let threads = if bytes < PARALLEL {
        1
    } else {
        std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS))
    };
    if threads == 1 {
        // SAFETY: the caller's promise.
        return unsafe { walk(plan, &plan.outer, from, to) };
    }
    let mut pieces = plan.split(threads);
    let last = pieces.pop();
    let run = |(plan, source, target): &(Plan, isize, isize), f: *const S, t: *mut D| {
        // SAFETY: a piece of the plan lies within what the plan reaches.
        unsafe { walk(plan, &plan.outer, f.offset(*source), t.offset(*target)) };
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
unsafe fn walk<S: Cast<D>, D: Copy>(plan: &Plan, outer: &[Axis], from: *const S, to: *mut D) {
    // SAFETY: the loops stay within the plan.
    unsafe {
        match outer.split_last() {
            Some((axis, rest)) => {
                for i in 0..axis.len as isize {
                    walk(
                        plan,
                        rest,
                        from.offset(i * axis.from),
                        to.offset(i * axis.to),
                    );
                }
            }
            None if plan.b.len == 1 => line(plan.a, from, to),
            None => tiles(plan.a, plan.b, from, to),
        }
    }
}

/// # Safety
/// As [`walk`].
unsafe fn line<S: Cast<D>, D: Copy>(a: Axis, from: *const S, to: *mut D) {
    // SAFETY: the loops stay within the axis.
    unsafe {
        if a.from == 1 && a.to == 1 {
            for i in 0..a.len {
                to.add(i)
                    .write_unaligned(from.add(i).read_unaligned().cast());
            }
        } else {
            for i in 0..a.len as isize {
                to.offset(i * a.to)
                    .write_unaligned(from.offset(i * a.from).read_unaligned().cast());
            }
        }
    }
}

/// Two dimensions, `a` fast in the source and `b` in the destination.
///
/// # Safety
/// As [`walk`].
unsafe fn tiles<S: Cast<D>, D: Copy>(a: Axis, b: Axis, from: *const S, to: *mut D) {
    let whole = a.from == 1 && b.to == 1;
    let (rows, columns) = if whole {
        (a.len / TILE * TILE, b.len / TILE * TILE)
    } else {
        (0, 0)
    };
    // SAFETY: all indices are within the axes.
    unsafe {
        let mut strip = 0;
        while strip < rows {
            let end = rows.min(strip + STRIP);
            for j in (0..columns).step_by(TILE) {
                for i in (strip..end).step_by(TILE) {
                    let (i, j) = (i as isize, j as isize);
                    tile(
                        from.offset(i + j * b.from),
                        b.from,
                        to.offset(i * a.to + j),
                        a.to,
                    );
                }
            }
            strip = end;
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
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    from: *const S,
    to: *mut D,
) {
    for i in rows {
        for j in columns.clone() {
            let (i, j) = (i as isize, j as isize);
            // SAFETY: both indices are within the axes.
            unsafe {
                to.offset(i * a.to + j * b.to)
                    .write_unaligned(from.offset(i * a.from + j * b.from).read_unaligned().cast());
            }
        }
    }
}

/// Transposes one tile.
///
/// # Safety
/// `TILE` runs of `TILE` elements, the given strides apart, are inside either memory.
#[inline(always)]
unsafe fn tile<S: Cast<D>, D: Copy>(from: *const S, step: isize, to: *mut D, to_step: isize) {
    // SAFETY: the caller's promise.
    unsafe {
        let columns: [[D; TILE]; TILE] = std::array::from_fn(|j| {
            let run = from
                .offset(j as isize * step)
                .cast::<[S; TILE]>()
                .read_unaligned();
            run.map(S::cast)
        });
        let rows: [[D; TILE]; TILE] =
            std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]));
        for (i, row) in rows.into_iter().enumerate() {
            to.offset(i as isize * to_step)
                .cast::<[D; TILE]>()
                .write_unaligned(row);
        }
    }
}
