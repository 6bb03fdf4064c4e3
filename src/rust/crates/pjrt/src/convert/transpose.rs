//! Transposition by tiles.

use super::pair::{Pair, TILE};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Length of a strip of tiles along the source's runs, so that the destination's lines that it
/// touches stay in cache until they are full.
const STRIP: usize = 256;
/// Elements of a run that are converted at once before they are transposed. They stay in the
/// first level of cache.
const CHUNK: usize = 64;
/// Bytes of the largest element.
const WIDEST: usize = 16;

/// `columns` runs of `rows` elements in the source, `steps.0` bytes apart, which become `rows` runs in
/// the destination, `steps.1` bytes apart.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    pub rows: usize,
    pub columns: usize,
    pub steps: (isize, isize),
    pub from: *const u8,
    pub to: *mut u8,
}

/// Transposes in strips.
///
/// # Safety
/// As [`transpose`].
pub(super) unsafe fn strips(pair: &Pair, all: Runs) {
    for start in (0..all.rows).step_by(STRIP) {
        // SAFETY: the strip is part of the whole.
        unsafe {
            let strip = Runs {
                rows: STRIP.min(all.rows - start),
                from: all.from.add(start * pair.from),
                to: all.to.offset(start as isize * all.steps.1),
                ..all
            };
            transpose(pair, strip);
        }
    }
}

/// Transposes.
///
/// # Safety
/// The elements are inside either memory.
pub(super) unsafe fn transpose(pair: &Pair, runs: Runs) {
    let (rows, columns, steps) = (runs.rows, runs.columns, runs.steps);
    let (from, to) = (runs.from, runs.to);
    let (whole_rows, whole_columns) = (rows / TILE * TILE, columns / TILE * TILE);
    // A part of column `j`, element by element.
    let part = |j: usize, rows: Range<usize>| {
        if rows.is_empty() {
            return; // The address of no element may be outside of the memory.
        }
        // SAFETY: called for elements inside the matrix only.
        unsafe {
            (pair.run)(
                from.add(rows.start * pair.from)
                    .offset(j as isize * steps.0),
                pair.from as isize,
                to.offset(rows.start as isize * steps.1).add(j * pair.to),
                steps.1,
                rows.len(),
            );
        }
    };
    for j in (0..whole_columns).step_by(TILE) {
        // SAFETY: the tiles are inside the matrix.
        unsafe {
            let (f, t) = (from.offset(j as isize * steps.0), to.add(j * pair.to));
            if pair.direct {
                (pair.tiles)(f, steps.0, t, steps.1, whole_rows / TILE);
            } else {
                convert_tiles(pair, whole_rows, steps, f, t);
            }
        }
        (j..j + TILE).for_each(|j| part(j, whole_rows..rows));
    }
    (whole_columns..columns).for_each(|j| part(j, 0..rows));
}

/// Converts and transposes a column of tiles: first the one, which vectorises along the runs, then
/// the other.
///
/// # Safety
/// As [`transpose`], with `TILE` columns and whole tiles.
unsafe fn convert_tiles(
    pair: &Pair,
    rows: usize,
    steps: (isize, isize),
    from: *const u8,
    to: *mut u8,
) {
    let mut buffer = MaybeUninit::<[u8; TILE * CHUNK * WIDEST]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<u8>();
    let pitch = CHUNK * pair.to;
    for start in (0..rows).step_by(CHUNK) {
        let count = CHUNK.min(rows - start);
        // SAFETY: the buffer has room for `TILE` runs of `CHUNK` elements.
        unsafe {
            for j in 0..TILE {
                let run = from.add(start * pair.from).offset(j as isize * steps.0);
                pair.line(run, buffer.add(j * pitch), count);
            }
            let to = to.offset(start as isize * steps.1);
            (pair.tiles)(buffer, pitch as isize, to, steps.1, count / TILE);
        }
    }
}
