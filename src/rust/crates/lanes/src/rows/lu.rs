//! `L` and `U` of one matrix.

use super::{lanes_of, panel, waiting, Below, Columns, Factors, Product};
use crate::lanes::{Float, Lanes};
use std::ops::Range;

/// The largest [`panel`].
const PANEL: usize = 16;

/// Factors in place, in room of [`packed`](super::packed); `rows` become the rows of the pivots, counted from 0. Returns the
/// first column, counted from 1, where the pivot is 0, or 0.
#[inline(always)]
pub(crate) fn factor<V: Lanes>(matrix: &mut Columns<'_, V>, rows: &mut [i32]) -> i32 {
    let Columns {
        m, stride, a, work, ..
    } = matrix;
    let (m, stride) = (*m, *stride);
    let n = a.len() / stride;
    let lanes = lanes_of(a[0]);
    let width = panel(V::WIDTH);
    let rank = rows.len();
    let mut singular = 0;
    for done in 1..=rank.div_ceil(width) {
        let (start, end) = ((done - 1) * width, rank.min(done * width));
        let zero = eliminate(&mut a[start * stride..end * stride], m, start, rows, lanes);
        if singular == 0 {
            singular = zero;
        }
        let count = waiting(done);
        let known = (done - count) * width..end;
        // Those come together in pairs, fours, and so on.
        let mut half = 1;
        while half < count {
            let first = (done - half) * width;
            let left = (first - half * width) * stride..first * stride;
            exchange(&mut a[left], stride, first..end, rows);
            half *= 2;
        }
        let to = end..rank.min(end + count * width);
        if !to.is_empty() {
            follow(m, stride, a, known, to, rows, work);
        }
    }
    // Columns that have exchanges before them still, and those beyond the square.
    let panels = rank.div_ceil(width);
    for at in 0..panels {
        let mut seen = at + 1;
        let mut size = 2;
        while (at / size + 1) * size <= panels {
            seen = (at / size + 1) * size;
            size *= 2;
        }
        let left = at * width * stride..rank.min((at + 1) * width) * stride;
        exchange(&mut a[left], stride, rank.min(seen * width)..rank, rows);
    }
    if rank < n {
        follow(m, stride, a, 0..rank, rank..n, rows, work);
    }
    singular
}

/// The columns `to` follow the columns `known`, which have their results.
#[inline(always)]
fn follow<V: Lanes>(
    m: usize,
    stride: usize,
    a: &mut [V],
    known: Range<usize>,
    to: Range<usize>,
    rows: &[i32],
    work: &mut [V],
) {
    let changed = to.start * stride..to.end * stride;
    exchange(&mut a[changed], stride, known.clone(), rows);
    let end = known.end;
    let step = |known: Range<usize>, rows: Range<usize>| Product {
        stride,
        rows,
        known,
        to: to.clone(),
        factors: Factors::Above,
    };
    let vectors = |row: usize| row.div_ceil(V::WIDTH);
    for top in known.clone().step_by(panel(V::WIDTH)) {
        let panel = top..end.min(top + panel(V::WIDTH));
        solve(a, stride, panel.clone(), to.clone());
        let below = vectors(panel.end)..vectors(end);
        V::product(a, &step(panel, below), work);
    }
    V::product(a, &step(known, vectors(end)..vectors(m)), work);
}

/// Factors the columns of a panel, of which the first is `start`. Returns as [`factor`].
#[inline(always)]
fn eliminate<V: Lanes>(panel: &mut [V], m: usize, start: usize, rows: &mut [i32], lanes: V) -> i32 {
    let stride = panel.len() / rows[start..].len().min(super::panel(V::WIDTH));
    let mut singular = 0;
    for c in 0..panel.len() / stride {
        let j = start + c;
        let row = largest_row(&panel[c * stride..][..stride], j, m);
        rows[j] = row as i32;
        for column in panel.chunks_exact_mut(stride) {
            V::flat_mut(column).swap(j, row);
        }
        let (done, others) = panel.split_at_mut((c + 1) * stride);
        let column = &mut done[c * stride..];
        let below = Below::diagonal::<V>(j);
        divide(below, column, V::flat(column)[j], lanes);
        if singular == 0 && V::flat(column)[j] == V::Float::of(0.0) {
            singular = j as i32 + 1;
        }
        for other in others.chunks_exact_mut(stride) {
            let factor = lanes.like(V::flat(other)[j].f64());
            below.subtract(other, column, factor, lanes);
        }
    }
    singular
}

/// Divides what is below by the pivot, unless that is 0, as then all are.
#[inline(always)]
fn divide<V: Lanes>(below: Below, column: &mut [V], pivot: V::Float, lanes: V) {
    if pivot == V::Float::of(0.0) {
        return;
    }
    let pivot = lanes.like(pivot.f64());
    if pivot.abs().any_less(pivot.like(V::Float::SMALLEST.f64())) {
        // The reciprocal may be infinite.
        below.change(column, lanes, |l| l / pivot);
    } else {
        let inverse = pivot.like(1.0) / pivot;
        below.change(column, lanes, |l| l * inverse);
    }
}

/// The first of the rows from `j` to `m` with the element that is largest in magnitude.
#[inline(always)]
fn largest_row<V: Lanes>(column: &[V], j: usize, m: usize) -> usize {
    let (first, row) = (j / V::WIDTH, j % V::WIDTH);
    let column = &column[first..];
    let none = column[0].like(-1.0);
    let mut head = column[0].abs();
    for above in &mut head.as_mut_slice()[..row] {
        *above = V::Float::of(-1.0);
    }
    // NaN is never the larger one.
    let mut parts = [head.max(none), none, none, none];
    for (at, value) in column.iter().enumerate().skip(1) {
        parts[at % 4] = value.abs().max(parts[at % 4]);
    }
    let largest = parts[0].max(parts[1]).max(parts[2].max(parts[3]));
    let mut size = largest.as_slice()[0];
    for &other in &largest.as_slice()[1..] {
        size = if size < other { other } else { size };
    }
    let size = none.like(size.f64());
    let mut above = row;
    for (at, values) in column.chunks(64 / V::WIDTH).enumerate() {
        let mut equal = 0;
        for (i, value) in values.iter().enumerate() {
            equal |= value.abs().equal_bits(size) << (i * V::WIDTH);
        }
        equal = equal >> above << above;
        above = 0;
        if equal != 0 {
            let found = first * V::WIDTH + at * 64 + equal.trailing_zeros() as usize;
            // A row of the padding, if there is nothing but NaN.
            return if found < m { found } else { j };
        }
    }
    j
}

/// Does the exchanges `which` in each of the columns.
#[inline(always)]
fn exchange<V: Lanes>(columns: &mut [V], stride: usize, which: Range<usize>, rows: &[i32]) {
    if which.is_empty() {
        return;
    }
    // Several columns share the look at a row's number.
    let mut fours = columns.chunks_exact_mut(4 * stride);
    for four in &mut fours {
        let (a, others) = four.split_at_mut(stride);
        let (b, others) = others.split_at_mut(stride);
        let (c, d) = others.split_at_mut(stride);
        exchange_in([a, b, c, d].map(V::flat_mut), which.clone(), rows);
    }
    for column in fours.into_remainder().chunks_exact_mut(stride) {
        exchange_in([V::flat_mut(column)], which.clone(), rows);
    }
}

#[inline(always)]
fn exchange_in<T: Copy, const N: usize>(
    mut columns: [&mut [T]; N],
    which: Range<usize>,
    rows: &[i32],
) {
    let len = columns[0].len();
    for (i, &row) in which.clone().zip(&rows[which]) {
        for column in &mut columns {
            column[..len].swap(i, row as usize);
        }
    }
}

/// The rows `panel` of `U` in the columns `to`: transposed, so that each is vectors of these columns.
#[inline(always)]
fn solve<V: Lanes>(a: &mut [V], stride: usize, panel: Range<usize>, to: Range<usize>) {
    let zero = a[0].like(0.0);
    let (left, right) = a.split_at_mut(to.start * stride);
    let right = &mut right[..to.len() * stride];
    let (first, tall) = (panel.start / V::WIDTH, panel.len().div_ceil(V::WIDTH));
    for columns in right.chunks_mut(V::WIDTH * stride) {
        let mut block = [zero; PANEL];
        let rows = &mut block[..tall * V::WIDTH];
        for (c, column) in columns.chunks_exact(stride).enumerate() {
            for (q, &value) in column[first..][..tall].iter().enumerate() {
                rows[q * V::WIDTH + c] = value;
            }
        }
        for square in rows.chunks_exact_mut(V::WIDTH) {
            V::transpose(square);
        }
        for c in 0..panel.len() {
            let at = (panel.start + c) * stride * V::WIDTH + panel.start;
            let factors = &V::flat(left)[at..][..panel.len()];
            let (known, others) = rows[..panel.len()].split_at_mut(c + 1);
            for (row, &l) in others.iter_mut().zip(&factors[c + 1..]) {
                *row = known[c].neg_mul_add(zero.like(l.f64()), *row);
            }
        }
        for square in rows.chunks_exact_mut(V::WIDTH) {
            V::transpose(square);
        }
        for (c, column) in columns.chunks_exact_mut(stride).enumerate() {
            for (q, value) in column[first..][..tall].iter_mut().enumerate() {
                *value = rows[q * V::WIDTH + c];
            }
        }
    }
}
