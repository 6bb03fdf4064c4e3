//! Columns less the products of columns: what the time of a large factorisation goes into. Operands are packed as
//! the innermost loop reads them, which holds a tile of the result in registers.

use crate::lanes::{Float, Lanes};
use std::ops::Range;

/// Columns that are packed at a time, and vectors of rows: what the second level of cache holds.
const DEPTH: usize = 256;
const HEIGHT: usize = 24;

/// Where the factors of the products stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// In the columns that are changed, in the rows of the known ones: `A₂₂ - L₂₁ U₁₂`.
    Above,
    /// In the known columns, in the rows of those that are changed, of which no more than the lower triangle is
    /// wanted: `A₂₂ - L₂₁ L₂₁ᵀ`.
    Beside,
}

/// From the columns `to` the columns `known`, each multiplied by its factor, are taken, in the vectors `rows`.
#[derive(Clone, Debug)]
pub struct Product {
    pub(crate) stride: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) known: Range<usize>,
    pub(crate) to: Range<usize>,
    pub(crate) factors: Factors,
}

/// Vectors of a tile's columns, and columns: with two of the operands they fill the registers, of which there are
/// 32 or 16.
const MANY: (usize, usize) = (3, 8);
const FEW: (usize, usize) = (2, 6);

/// Vectors that [`product`] works in, in matrices of `cols` columns of `stride` vectors.
pub(crate) fn packed(stride: usize, cols: usize, width: usize) -> usize {
    let depth = cols.min(DEPTH);
    depth * stride.min(HEIGHT) + (depth * MANY.1).div_ceil(width)
}

/// See [`Product`]; what `work` has room for is [`packed`].
#[inline(always)]
pub(crate) fn product<V: Lanes>(matrix: &mut [V], product: &Product, work: &mut [V]) {
    if V::REGISTERS >= 32 {
        by_tiles::<V, { MANY.0 }, { MANY.1 }>(matrix, product, work);
    } else {
        by_tiles::<V, { FEW.0 }, { FEW.1 }>(matrix, product, work);
    }
}

#[inline(always)]
fn by_tiles<V: Lanes, const M: usize, const N: usize>(
    matrix: &mut [V],
    product: &Product,
    work: &mut [V],
) {
    let Product {
        stride,
        rows,
        known,
        to,
        factors,
    } = product.clone();
    for first in known.clone().step_by(DEPTH) {
        let known = first..known.end.min(first + DEPTH);
        let depth = known.len();
        for top in rows.clone().step_by(HEIGHT) {
            let rows = top..rows.end.min(top + HEIGHT);
            let (left, right) = work.split_at_mut(depth * rows.len());
            pack_left::<V, M>(matrix, stride, &rows, &known, left);
            let right = &mut V::flat_mut(right)[..depth * N];
            for c in to.clone().step_by(N) {
                let cols = c..to.end.min(c + N);
                let start = match factors {
                    Factors::Above => {
                        for (j, c) in cols.clone().enumerate() {
                            let column = &V::flat(matrix)[c * stride * V::WIDTH..][known.clone()];
                            for (to, &from) in right.chunks_exact_mut(N).zip(column) {
                                to[j] = from;
                            }
                        }
                        rows.start
                    }
                    Factors::Beside => {
                        for (to, k) in right.chunks_exact_mut(N).zip(known.clone()) {
                            let column = &V::flat(matrix)[k * stride * V::WIDTH..];
                            // A length that the compiler knows is no call.
                            if cols.len() == N {
                                to.copy_from_slice(&column[c..][..N]);
                            } else {
                                to[..cols.len()].copy_from_slice(&column[cols.clone()]);
                            }
                        }
                        // Tiles that are all above the diagonal are left out.
                        let above = (c / V::WIDTH).clamp(rows.start, rows.end) - rows.start;
                        rows.start + above / M * M
                    }
                };
                let mut row = start;
                while row < rows.end {
                    let tall = M.min(rows.end - row);
                    let left = &left[(row - rows.start) * depth..][..tall * depth];
                    let at = c * stride + row;
                    let to = &mut matrix[at..];
                    match tall {
                        1 => tile::<V, 1, N>(left, right, to, stride, cols.len()),
                        2 => tile::<V, 2, N>(left, right, to, stride, cols.len()),
                        _ => tile::<V, M, N>(left, right, to, stride, cols.len()),
                    }
                    row += tall;
                }
            }
        }
    }
}

/// The vectors `rows` of the columns `known`: a tile's, column by column, then the next tile's.
#[inline(always)]
fn pack_left<V: Lanes, const M: usize>(
    matrix: &[V],
    stride: usize,
    rows: &Range<usize>,
    known: &Range<usize>,
    left: &mut [V],
) {
    let mut rest = left;
    let mut row = rows.start;
    while row < rows.end {
        let tall = M.min(rows.end - row);
        let (part, others) = rest.split_at_mut(tall * known.len());
        match tall {
            1 => pack_strip::<V, 1>(matrix, stride, row, known.start, part),
            2 => pack_strip::<V, 2>(matrix, stride, row, known.start, part),
            _ => pack_strip::<V, M>(matrix, stride, row, known.start, part),
        }
        (rest, row) = (others, row + tall);
    }
}

#[inline(always)]
fn pack_strip<V: Lanes, const M: usize>(
    matrix: &[V],
    stride: usize,
    row: usize,
    first: usize,
    strip: &mut [V],
) {
    for (to, k) in strip.chunks_exact_mut(M).zip(first..) {
        to.copy_from_slice(&matrix[k * stride + row..][..M]);
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
