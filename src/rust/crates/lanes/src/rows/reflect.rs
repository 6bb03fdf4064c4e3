//! Sixteen reflections at once, as one block `H = I - V T Vᵀ`: what the time of a large QR factorisation goes into.
//! How the numbers are added up does not depend on the vectors' width.

use crate::lanes::{Float, Lanes};
use crate::operands::Block;
use std::array::from_fn;
use std::ops::Range;

/// Reflections of a block, and rows of its triangle: whole vectors of every width.
pub(crate) const BLOCK: usize = 16;

/// Columns that are computed at a time, and vectors of a tile's columns: they fill the registers, of which there are
/// 32 or 16.
pub(super) const MANY: (usize, usize) = (3, 8);
pub(super) const FEW: (usize, usize) = (2, 6);

/// Vectors that the memory of a block has, in columns of `stride`.
pub(crate) fn work_of_block(stride: usize, width: usize) -> usize {
    2 * BLOCK * stride + 2 * BLOCK * BLOCK.div_ceil(width)
}

impl<'a, V: Lanes> Block<'a, V> {
    /// The one that [`prepare`](super::prepare) left in `memory`, of the reflections from row `start` on of matrices of
    /// `m` rows.
    #[inline(always)]
    pub(crate) fn of(memory: &'a [V], start: usize, m: usize) -> Self {
        let (first, tall) = (start / V::WIDTH, BLOCK / V::WIDTH);
        let len = m.div_ceil(V::WIDTH) - first;
        let (v, rest) = memory.split_at(BLOCK * len);
        let (v_rows, rest) = rest.split_at(BLOCK * len);
        Block {
            v,
            v_rows,
            t: &rest[..BLOCK * tall],
            first,
            rows: (0, len * V::WIDTH),
        }
    }

    /// The same for columns that are 0 before row `start` of these, and from row `end` on.
    #[inline(always)]
    pub(crate) fn within(self, start: usize, end: usize) -> Self {
        Block {
            rows: (start, end.min(self.rows.1)),
            ..self
        }
    }
}

/// The `blocks` act on columns, one after the other.
#[inline(always)]
pub(crate) fn reflect<V: Lanes>(columns: &mut [V], stride: usize, blocks: &[Block<'_, V>]) {
    if V::REGISTERS >= 32 {
        by_strips::<V, { MANY.0 }, { MANY.1 }>(columns, stride, blocks);
    } else {
        by_strips::<V, { FEW.0 }, { FEW.1 }>(columns, stride, blocks);
    }
}

#[inline(always)]
fn by_strips<V: Lanes, const M: usize, const N: usize>(
    columns: &mut [V],
    stride: usize,
    blocks: &[Block<'_, V>],
) {
    let tall = BLOCK / V::WIDTH;
    let Some(&any) = columns.first() else {
        return;
    };
    let none = [[any; BLOCK]; N];
    let (mut sums, mut factors) = (none, none);
    let sums = &mut sums.as_flattened_mut()[..N * tall];
    let factors = &mut factors.as_flattened_mut()[..N * tall];
    for strip in columns.chunks_mut(N * stride) {
        let cols = strip.len() / stride;
        for block in blocks {
            let len = block.v.len() / BLOCK;
            let rows = block.rows.0..block.rows.1;
            V::project(block.v_rows, &strip[block.first..], stride, rows, sums);
            V::project(block.t, sums, tall, 0..BLOCK, factors);
            let factors = V::flat(factors);
            let mut row = 0;
            while row < len {
                let to = &mut strip[block.first + row..];
                let from = &block.v[row..];
                match M.min(len - row) {
                    1 => tile::<V, 1, N>(from, len, factors, to, stride, cols),
                    2 => tile::<V, 2, N>(from, len, factors, to, stride, cols),
                    _ => tile::<V, M, N>(from, len, factors, to, stride, cols),
                }
                row += M;
            }
        }
    }
}

/// Products of the transposed of `left`, of [`BLOCK`] columns that are given by rows, with some columns: of the rows
/// `which`.
#[inline(always)]
pub(crate) fn project<V: Lanes>(
    left: &[V],
    columns: &[V],
    stride: usize,
    which: Range<usize>,
    to: &mut [V],
) {
    if V::REGISTERS >= 32 {
        project_columns::<V, { MANY.1 }>(left, columns, stride, which, to);
    } else {
        project_columns::<V, { FEW.1 }>(left, columns, stride, which, to);
    }
}

#[inline(always)]
fn project_columns<V: Lanes, const N: usize>(
    left: &[V],
    columns: &[V],
    stride: usize,
    which: Range<usize>,
    to: &mut [V],
) {
    let tall = BLOCK / V::WIDTH;
    // Those that are not there are the last one again.
    let last = (columns.len() - 1) / stride;
    let cols = N.min(to.len() / tall);
    let columns: [_; N] = from_fn(|j| &V::flat(&columns[j.min(last) * stride..])[which.clone()]);
    let left = &left[which.start * tall..which.end * tall];
    if tall == 1 {
        project_tile::<V, 1, N>(left, columns, to, cols);
    } else {
        for at in (0..tall).step_by(2) {
            project_tile::<V, 2, N>(&left[at..], columns, &mut to[at..], cols);
        }
    }
}

#[inline(always)]
fn project_tile<V: Lanes, const G: usize, const N: usize>(
    left: &[V],
    columns: [&[V::Float]; N],
    to: &mut [V],
    cols: usize,
) {
    let tall = BLOCK / V::WIDTH;
    let len = columns[0].len();
    let columns = columns.map(|column| &column[..len]);
    let mut sums = [[to[0].like(0.0); G]; N];
    for i in 0..len {
        let left = &left[i * tall..][..G];
        for (sums, column) in sums.iter_mut().zip(&columns) {
            let factor = left[0].like(column[i].f64());
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum = left.mul_add(factor, *sum);
            }
        }
    }
    for (j, sums) in sums.iter().enumerate() {
        if j < cols {
            to[j * tall..][..G].copy_from_slice(sums);
        }
    }
}

/// The tile whose first vector is `to[0]`, of which the first `cols` columns are there, less the products of the
/// columns of `left`, of which `left[0]` is the first vector, with the columns of `factors`.
#[inline(always)]
fn tile<V: Lanes, const M: usize, const N: usize>(
    left: &[V],
    len: usize,
    factors: &[V::Float],
    to: &mut [V],
    stride: usize,
    cols: usize,
) {
    let factors: [_; N] = from_fn(|j| &factors[j * BLOCK..][..BLOCK]);
    let mut sums = [[to[0]; M]; N];
    for (j, sums) in sums.iter_mut().enumerate() {
        if j < cols {
            sums.copy_from_slice(&to[j * stride..][..M]);
        }
    }
    for k in 0..BLOCK {
        let left = &left[k * len..][..M];
        for (sums, factors) in sums.iter_mut().zip(&factors) {
            let factor = left[0].like(factors[k].f64());
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
