//! Large arrays: results are gathered in a small buffer and written past the caches in whole
//! lines. Ordinary writes would first fetch every line that is about to be overwritten; without
//! that a transposition runs nearly as fast as a plain copy.

use super::pair::Pair;
use super::transpose::{self, Runs};
use std::mem::MaybeUninit;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a buffer's row that are filled at once.
const WIDTH: usize = 512;
/// Rows of the buffer: runs of that many elements are read at once.
const ROWS: usize = 256;
/// Each row begins with room for what the last round left over, less than a line.
const PITCH: usize = LINE + WIDTH;

/// Writes lines at `to`, which is aligned to a line.
///
/// # Safety
/// `from` is readable and `to` writable for that many lines.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn lines(from: *const u8, to: *mut u8, count: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
    for i in 0..count {
        // SAFETY: line `i` is inside by the caller's promise; `to` is aligned.
        unsafe {
            let (f, t) = (from.add(4 * i), to.add(4 * i));
            let line = [0, 1, 2, 3].map(|k| _mm_loadu_si128(f.add(k)));
            for (k, part) in line.into_iter().enumerate() {
                _mm_stream_si128(t.add(k), part);
            }
        }
    }
}

/// Writes lines at `to`.
///
/// # Safety
/// `from` is readable and `to` writable for that many lines.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn lines(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, count * LINE) };
}

/// Makes what `lines` wrote visible to other threads. To be called before such memory is shown.
pub(super) fn finish() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction belongs to SSE, which every x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies bytes, whole lines past the caches.
///
/// # Safety
/// `from` is readable and `to` writable for `len` bytes, and they do not overlap.
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let head = to.align_offset(LINE).min(len);
    let count = (len - head) / LINE;
    let done = head + count * LINE;
    // SAFETY: the three parts are what the caller promised.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        lines(from.add(head), to.add(head), count);
        to.add(done)
            .copy_from_nonoverlapping(from.add(done), len - done);
    }
}

/// Converts a run.
///
/// # Safety
/// `len` elements are inside either memory.
pub(super) unsafe fn line(pair: &Pair, from: *const u8, to: *mut u8, len: usize) {
    const CHUNK: usize = 4096;
    if pair.plain {
        // SAFETY: the caller's promise.
        return unsafe { copy(from, to, len * pair.to) };
    }
    let mut buffer = MaybeUninit::<[u8; CHUNK]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<u8>();
    let step = CHUNK / pair.to;
    for start in (0..len).step_by(step) {
        let count = step.min(len - start);
        // SAFETY: the chunk lies in either memory and fits into the buffer.
        unsafe {
            pair.line(from.add(start * pair.from), buffer, count);
            copy(buffer, to.add(start * pair.to), count * pair.to);
        }
    }
}

/// Transposes, as [`transpose::transpose`].
///
/// # Safety
/// As there.
pub(super) unsafe fn transpose(pair: &Pair, runs: Runs) {
    let Runs { rows, columns, .. } = runs;
    let width = WIDTH / pair.to;
    let mut memory: Vec<u8> = Vec::with_capacity(ROWS * PITCH + LINE);
    let spare = memory.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    // SAFETY: the capacity has room for the step to the next line.
    let buffer = unsafe { spare.add(spare.align_offset(LINE)) };
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        for start in (0..columns).step_by(width) {
            let width = width.min(columns - start);
            // SAFETY: the block lies in the source, and the buffer holds `count` rows of that
            // width behind the room at their beginning. Row `i` goes to where the block's row
            // lies in the destination, except for what does not fill a line: that stays in the
            // buffer until more of the row follows.
            unsafe {
                let block = Runs {
                    rows: count,
                    columns: width,
                    steps: (runs.steps.0, PITCH as isize),
                    from: runs
                        .from
                        .add(first * pair.from)
                        .offset(start as isize * runs.steps.0),
                    to: buffer.add(LINE),
                };
                transpose::transpose(pair, block);
                for i in 0..count {
                    let row = runs.to.offset((first + i) as isize * runs.steps.1);
                    let last = start + width == columns;
                    flush(
                        buffer.add(i * PITCH + LINE),
                        row.add(start * pair.to),
                        start > 0,
                        width * pair.to,
                        last,
                    );
                }
            }
        }
    }
}

/// Writes `len` new bytes at `row`, together with those that an earlier round left before them.
///
/// # Safety
/// `row` belongs at `to` and is readable for `len` bytes; with `more` behind an earlier round, the
/// bytes between `to` and the line that it lies in are in the same places before `row`; `to` is
/// writable from that line's start on.
unsafe fn flush(row: *mut u8, to: *mut u8, more: bool, len: usize, last: bool) {
    let carried = if more { to as usize % LINE } else { 0 };
    // SAFETY: the caller's promise.
    unsafe {
        let (from, to, len) = (row.sub(carried), to.sub(carried), len + carried);
        if last {
            return copy(from, to, len);
        }
        let head = to.align_offset(LINE).min(len);
        to.copy_from_nonoverlapping(from, head);
        let count = (len - head) / LINE;
        lines(from.add(head), to.add(head), count);
        let done = head + count * LINE;
        // What is left moves to where the next round expects it.
        let left = len - done;
        row.sub(left).copy_from(from.add(done), left);
    }
}
