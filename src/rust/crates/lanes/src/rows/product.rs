//! Columns less the products of columns: what the time of a large factorisation goes into. Operands are packed as
//! the innermost loop reads them, which holds a tile of the result in registers.

use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product};
use std::ops::Range;

/// Columns that are packed at a time, and vectors of rows: what the second level of cache holds.
const DEPTH: usize = 256;
pub(super) const HEIGHT: usize = 24;

/// Vectors of a tile's columns, and columns: with two of the operands they fill the registers, of which there are
/// 32 or 16.
const MANY: (usize, usize) = (3, 8);
const FEW: (usize, usize) = (2, 6);

/// The most lanes of a vector.
const WIDEST: usize = 16;

/// Vectors that [`product`] works in, in matrices of `cols` columns of `stride` vectors.
pub(crate) fn packed(stride: usize, cols: usize, width: usize) -> usize {
    let depth = cols.min(DEPTH);
    depth * stride.min(HEIGHT) + (depth * MANY.1).div_ceil(width)
}

/// As much of `work` as [`product`] works in: a thread that helps has as much of its own.
#[inline(always)]
pub(super) fn room<V: Lanes>(work: &mut [V], stride: usize, cols: usize) -> &mut [V] {
    &mut work[..packed(stride, cols, V::WIDTH)]
}

/// See [`Product`]; what `work` has room for is [`packed`].
#[inline(always)]
pub(crate) fn product<V: Lanes>(columns: &mut [V], product: &Product<'_, V>, work: &mut [V]) {
    if V::REGISTERS >= 32 {
        by_tiles::<V, { MANY.0 }, { MANY.1 }>(columns, product, work);
    } else {
        by_tiles::<V, { FEW.0 }, { FEW.1 }>(columns, product, work);
    }
}

#[inline(always)]
fn by_tiles<V: Lanes, const M: usize, const N: usize>(
    columns: &mut [V],
    product: &Product<'_, V>,
    work: &mut [V],
) {
    let &Product {
        stride,
        ref rows,
        known,
        first: (first, to),
        factors,
    } = product;
    let parts = factors.parts();
    let most = DEPTH / parts;
    for (at, known) in known.chunks(most * stride).enumerate() {
        let depth = known.len() / stride * parts;
        for top in rows.clone().step_by(HEIGHT) {
            let rows = top..rows.end.min(top + HEIGHT);
            let (left, right) = work.split_at_mut(depth * rows.len());
            if parts == 1 {
                pack_left::<V, M, 1>(known, stride, &rows, left);
            } else {
                pack_left::<V, M, 2>(known, stride, &rows, left);
            }
            let right = &mut V::flat_mut(right)[..depth * N];
            for (strip, columns) in columns.chunks_mut(N * stride).enumerate() {
                let c = to + strip * N;
                let cols = columns.len() / stride;
                let step = (first, at * most, strip * N, c);
                pack_right::<V, N>(columns, stride, factors, step, right);
                let start = match factors {
                    Factors::Beside(_) | Factors::ComplexBeside(_) => {
                        // Tiles that are all above the diagonal are left out.
                        let above = (parts * c / V::WIDTH).clamp(rows.start, rows.end) - rows.start;
                        rows.start + above / M * M
                    }
                    _ => rows.start,
                };
                let mut row = start;
                while row < rows.end {
                    let tall = M.min(rows.end - row);
                    let left = &left[(row - rows.start) * depth..][..tall * depth];
                    let to = &mut columns[row..];
                    match tall {
                        1 => tile::<V, 1, N>(left, right, to, stride, cols),
                        2 => tile::<V, 2, N>(left, right, to, stride, cols),
                        _ => tile::<V, M, N>(left, right, to, stride, cols),
                    }
                    row += tall;
                }
            }
        }
    }
}

/// The factors of a strip, whose columns these are: a row of them for each known column, or for each of its parts. The
/// known ones are those from `first + known` on; the first column of the strip is `strip` of those that are changed,
/// and `c` of all.
#[inline(always)]
fn pack_right<V: Lanes, const N: usize>(
    columns: &[V],
    stride: usize,
    factors: Factors<'_, V>,
    (first, known, strip, c): (usize, usize, usize, usize),
    right: &mut [V::Float],
) {
    let cols = columns.len() / stride;
    let depth = right.len() / N;
    match factors {
        Factors::Above | Factors::ComplexAbove => {
            let row = factors.parts() * (first + known);
            pack_rows::<V, N>(columns, stride, row, right);
        }
        Factors::Apart(columns, stride, start) => {
            let columns = &columns[strip * stride..][..cols * stride];
            pack_rows::<V, N>(columns, stride, start + known, right);
        }
        Factors::Beside(columns) | Factors::Across(columns) => {
            let columns = columns[known * stride..].chunks_exact(stride);
            for (to, column) in right.chunks_exact_mut(N).zip(columns) {
                let column = &V::flat(column)[c..];
                // A length that the compiler knows is no call.
                if cols == N {
                    to.copy_from_slice(&column[..N]);
                } else {
                    to[..cols].copy_from_slice(&column[..cols]);
                }
            }
        }
        Factors::ComplexBeside(columns) => {
            let columns = columns[known * stride..].chunks_exact(stride);
            for (to, column) in right[..depth * N].chunks_exact_mut(2 * N).zip(columns) {
                let (re, im) = to.split_at_mut(N);
                let column = V::flat(column)[2 * c..][..2 * cols].chunks_exact(2);
                for ((re, im), from) in re.iter_mut().zip(im).zip(column) {
                    (*re, *im) = (from[0], V::Float::of(-from[1].f64()));
                }
            }
        }
    }
}

/// Factors that stand in columns, from a row on: squares of them are transposed.
#[inline(always)]
fn pack_rows<V: Lanes, const N: usize>(
    columns: &[V],
    stride: usize,
    row: usize,
    right: &mut [V::Float],
) {
    let zero = columns[0].like(0.0);
    for (at, columns) in columns.chunks(V::WIDTH * stride).enumerate() {
        for (q, to) in right.chunks_mut(V::WIDTH * N).enumerate() {
            let mut square = [zero; WIDEST];
            let row = row + q * V::WIDTH;
            if to.len() == V::WIDTH * N {
                for (to, column) in square.iter_mut().zip(columns.chunks_exact(stride)) {
                    to.as_mut_slice()
                        .copy_from_slice(&V::flat(column)[row..][..V::WIDTH]);
                }
            } else {
                let rows = to.len() / N;
                for (to, column) in square.iter_mut().zip(columns.chunks_exact(stride)) {
                    to.as_mut_slice()[..rows].copy_from_slice(&V::flat(column)[row..][..rows]);
                }
            }
            V::transpose(&mut square[..V::WIDTH]);
            for (to, from) in to.chunks_exact_mut(N).zip(&square) {
                let (to, from) = (&mut to[at * V::WIDTH..], from.as_slice());
                // A length that the compiler knows is no call.
                if to.len() < V::WIDTH {
                    to[..N % V::WIDTH].copy_from_slice(&from[..N % V::WIDTH]);
                } else {
                    to[..V::WIDTH].copy_from_slice(from);
                }
            }
        }
    }
}

/// The vectors `rows` of the columns `known`: a tile's, column by column, then the next tile's. Of complex columns those
/// times i follow each.
#[inline(always)]
fn pack_left<V: Lanes, const M: usize, const PARTS: usize>(
    known: &[V],
    stride: usize,
    rows: &Range<usize>,
    left: &mut [V],
) {
    let mut rest = left;
    let mut row = rows.start;
    while row < rows.end {
        let tall = M.min(rows.end - row);
        let (part, others) = rest.split_at_mut(tall * (known.len() / stride) * PARTS);
        match tall {
            1 => pack_strip::<V, 1, PARTS>(&known[row..], stride, part),
            2 => pack_strip::<V, 2, PARTS>(&known[row..], stride, part),
            _ => pack_strip::<V, M, PARTS>(&known[row..], stride, part),
        }
        (rest, row) = (others, row + tall);
    }
}

#[inline(always)]
fn pack_strip<V: Lanes, const M: usize, const PARTS: usize>(
    known: &[V],
    stride: usize,
    strip: &mut [V],
) {
    for (to, column) in strip.chunks_exact_mut(PARTS * M).zip(known.chunks(stride)) {
        let (to, turned) = to.split_at_mut(M);
        to.copy_from_slice(&column[..M]);
        for (turned, value) in turned.iter_mut().zip(&column[..M]) {
            *turned = value.times_i();
        }
    }
}

/// The tile whose first vector is `to[0]`, of which the first `cols` columns are there.
#[inline(always)]
fn tile<V: Lanes, const M: usize, const N: usize>(
    left: &[V],
    right: &[V::Float],
    to: &mut [V],
    stride: usize,
    cols: usize,
) {
    let mut sums = [[to[0]; M]; N];
    for (j, sums) in sums.iter_mut().enumerate() {
        if j < cols {
            sums.copy_from_slice(&to[j * stride..][..M]);
        }
    }
    for (left, right) in left.chunks_exact(M).zip(right.chunks_exact(N)) {
        for (sums, factor) in sums.iter_mut().zip(right) {
            let factor = left[0].like(factor.f64());
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum = left.neg_mul_add(factor, *sum);
            }
        }
    }
    for (j, sums) in sums.iter().enumerate() {
        if j < cols {
            to[j * stride..][..M].copy_from_slice(sums);
        }
    }
}
