//! Sixteen reflections at once, as one block `H = I - V T Vᵀ`: what the time of a large QR factorisation goes into.
//! How the numbers are added up does not depend on the vectors' width.

use crate::lanes::{Float, Lanes};
use crate::operands::{Block, Task};
use std::array::from_fn;
use std::ops::Range;

/// Reflections of a block, and rows of its triangle: whole vectors of every width.
pub(crate) const BLOCK: usize = 16;

/// Columns that are computed at a time, and vectors of a tile's columns: they fill the registers, of which there are
/// 32 or 16.
const MANY: (usize, usize) = (3, 8);
const FEW: (usize, usize) = (2, 6);

/// Vectors that the memory of a block has, in columns of `stride`.
pub(crate) fn work_of_block(stride: usize, width: usize) -> usize {
    2 * BLOCK * stride + 2 * BLOCK * BLOCK.div_ceil(width)
}

impl<'a, V: Lanes> Block<'a, V> {
    /// The one that [`prepare`] left in `memory`, of the reflections from row `start` to `end` of matrices of `m`
    /// rows.
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

/// Makes a [`Block`] in `memory` of the reflections in the columns of `panel`, which begin in row `start`. Where there are
/// two numbers for each column in `tau`, these are complex, and so are the columns, of which the parts are rows of their
/// own. A complex reflection's vector `v` becomes two columns, `v` and `i v`.
#[inline(always)]
pub(crate) fn prepare<V: Lanes>(
    panel: &[V],
    stride: usize,
    (start, m): (usize, usize),
    (tau, task): (&[V::Float], Task),
    memory: &mut [V],
) {
    let tall = BLOCK / V::WIDTH;
    let vectors = start / V::WIDTH..m.div_ceil(V::WIDTH);
    let len = vectors.len();
    let (v, rest) = memory.split_at_mut(BLOCK * len);
    let (v_rows, rest) = rest.split_at_mut(BLOCK * len);
    let (t, products) = rest.split_at_mut(BLOCK * tall);
    v.fill(panel[0].like(0.0));
    let parts = tau.len() * stride / panel.len();
    let columns = panel.chunks_exact(stride);
    for (c, (v, column)) in v.chunks_exact_mut(parts * len).zip(columns).enumerate() {
        let (v, iv) = v.split_at_mut(len);
        v.copy_from_slice(&column[vectors.clone()]);
        begin(v, c, parts);
        times_i(v, iv);
    }
    by_rows(v, len, v_rows);
    // Those of a column that is another one times the imaginary unit are known by that one's.
    let (wide, step) = (if V::REGISTERS >= 32 { MANY.1 } else { FEW.1 }, parts * len);
    for (strip, to) in v.chunks(wide * step).zip(products.chunks_mut(wide * tall)) {
        V::project(v_rows, strip, step, 0..len * V::WIDTH, to);
    }
    triangle(V::flat(products), (tau, parts), task, t);
}

/// Puts the 1 that reflection `c` begins with, a number of so many `parts`, and 0 before it.
#[inline(always)]
pub(super) fn begin<V: Lanes>(v: &mut [V], c: usize, parts: usize) {
    let head = &mut V::flat_mut(v)[..(c + 1) * parts];
    head.fill(V::Float::of(0.0));
    head[c * parts] = V::Float::of(1.0);
}

/// -1 and 1 in turns: with those, the [parts swapped](Lanes::swap_parts) are a number times the imaginary unit.
#[inline(always)]
pub(super) fn signs<V: Lanes>(any: V) -> V {
    let mut signs = any.like(1.0);
    for sign in signs.as_mut_slice().iter_mut().step_by(2) {
        *sign = V::Float::of(-1.0);
    }
    signs
}

/// `to` becomes complex numbers times the imaginary unit.
#[inline(always)]
fn times_i<V: Lanes>(from: &[V], to: &mut [V]) {
    let signs = signs(from[0]);
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.swap_parts() * signs;
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

/// [`BLOCK`] columns of `len` vectors become rows of so many numbers.
#[inline(always)]
fn by_rows<V: Lanes>(columns: &[V], len: usize, rows: &mut [V]) {
    let tall = BLOCK / V::WIDTH;
    let mut square = [columns[0]; BLOCK];
    let square = &mut square[..V::WIDTH];
    for (first, columns) in columns.chunks_exact(V::WIDTH * len).enumerate() {
        for at in 0..len {
            for (to, column) in square.iter_mut().zip(columns.chunks_exact(len)) {
                *to = column[at];
            }
            V::transpose(square);
            for (row, from) in square.iter().enumerate() {
                rows[(at * V::WIDTH + row) * tall + first] = *from;
            }
        }
    }
}

/// The columns of `T`, or of `Tᴴ` for a factorisation, of the inner products of the reflections. A complex number of two
/// `parts` is a square of four real ones, of which the second column is the first one times the imaginary unit.
#[inline(always)]
fn triangle<V: Lanes>(
    products: &[V::Float],
    (tau, parts): (&[V::Float], usize),
    task: Task,
    t: &mut [V],
) {
    let tall = BLOCK / V::WIDTH;
    let zero = t[0].like(0.0);
    t.fill(zero);
    for step in (0..tau.len()).step_by(parts) {
        // `T` from its first column on, or its last row.
        let at = |step| match task {
            Task::Factor => tau.len() - 1 - step,
            Task::Columns => step,
        };
        let number = at(step) / parts;
        let sums = &mut [zero; BLOCK][..tall];
        V::flat_mut(sums)[number * parts] = V::Float::of(1.0);
        for k in (0..step).map(at) {
            let factor = zero.like(products[number * BLOCK + k].f64());
            for (sum, known) in sums.iter_mut().zip(&t[k * tall..][..tall]) {
                *sum = known.neg_mul_add(factor, *sum);
            }
        }
        let re = zero.like(tau[number * parts].f64());
        let (to, beside) = t[number * parts * tall..][..parts * tall].split_at_mut(tall);
        for (to, sum) in to.iter_mut().zip(&*sums) {
            *to = *sum * re;
        }
        if parts == 2 {
            let im = tau[number * parts + 1].f64();
            let im = if task == Task::Factor { -im } else { im };
            let im = signs(zero) * zero.like(im);
            for (to, sum) in to.iter_mut().zip(&*sums) {
                *to = sum.swap_parts().mul_add(im, *to);
            }
            times_i(to, beside);
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
