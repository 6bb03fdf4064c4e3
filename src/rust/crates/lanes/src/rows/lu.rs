//! `L` and `U` of one matrix.

use super::share::share;
use super::{lanes_of, panel, waiting, Below, Columns};
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product, Step};
use crate::together::Together;
use std::ops::Range;

/// The largest [`panel`].
const PANEL: usize = 16;

/// Factors in place, in room of [`packed`](super::packed); `rows` become the rows of the pivots, counted from 0. Returns the
/// first column, counted from 1, where the pivot is 0, or 0.
#[inline(always)]
pub(crate) fn factor<V: Lanes>(matrix: &mut Columns<'_, V>, rows: &mut [i32]) -> i32 {
    let (m, stride, together, a, work) = matrix.parts();
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
            exchange(&mut a[left], stride, first, &rows[first..end]);
            half *= 2;
        }
        let (left, right) = a.split_at_mut(end * stride);
        let step = Step {
            m,
            stride,
            known: &left[known.start * stride..],
            first: known.start,
            rows: &rows[known],
        };
        let to = (count * width).min(rank - end) * stride;
        step.share(together, &mut right[..to], work);
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
        let first = rank.min(seen * width);
        exchange(&mut a[left], stride, first, &rows[first..]);
    }
    if rank < n {
        let (known, right) = a.split_at_mut(rank * stride);
        let step = Step {
            m,
            stride,
            known,
            first: 0,
            rows,
        };
        step.share(together, right, work);
    }
    singular
}

impl<V: Lanes> Step<'_, V> {
    /// What [`follow`] does, by several threads.
    #[inline(always)]
    fn share(&self, together: Together<'_>, columns: &mut [V], work: &mut [V]) {
        if !columns.is_empty() {
            let operations = self.known.len() / self.stride * columns.len() * V::WIDTH * 2;
            share(
                together,
                operations,
                columns,
                self.stride,
                work,
                &|_, part, work| V::follow(part, self, work),
            );
        }
    }
}

/// Columns behind those of `step` follow them: exchanges, their part of `U`, and what is taken from the rest.
#[inline(always)]
pub(crate) fn follow<V: Lanes>(columns: &mut [V], step: &Step<'_, V>, work: &mut [V]) {
    let Step {
        m,
        stride,
        known,
        first,
        rows,
    } = *step;
    exchange(columns, stride, first, rows);
    let width = panel(V::WIDTH);
    let take = |columns: &mut [V], from: Range<usize>, rows: Range<usize>, work: &mut [V]| {
        let step = Product {
            stride,
            rows: rows.start.div_ceil(V::WIDTH)..rows.end.div_ceil(V::WIDTH),
            known: &known[from.start * stride..from.end * stride],
            first: (first + from.start, 0),
            factors: Factors::Above,
        };
        V::product(columns, &step, work);
    };
    // As in the factorisation: rows of `U` come together in pairs, fours, and so on.
    for done in 1..=rows.len().div_ceil(width) {
        let (start, end) = ((done - 1) * width, rows.len().min(done * width));
        solve(
            &known[start * stride..end * stride],
            columns,
            stride,
            first + start,
        );
        let count = waiting(done);
        let below = first + end..first + rows.len().min(end + count * width);
        if !below.is_empty() {
            take(columns, end - count * width..end, below, work);
        }
    }
    take(columns, 0..rows.len(), first + rows.len()..m, work);
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
    let mut fours = column[1..].chunks_exact(4);
    for four in &mut fours {
        for (part, value) in parts.iter_mut().zip(four) {
            *part = value.abs().max(*part);
        }
    }
    for (part, value) in parts.iter_mut().zip(fours.remainder()) {
        *part = value.abs().max(*part);
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

/// Exchanges rows from `first` on with `rows` in each of the columns.
#[inline(always)]
fn exchange<V: Lanes>(columns: &mut [V], stride: usize, first: usize, rows: &[i32]) {
    if rows.is_empty() {
        return;
    }
    // Several columns share the look at a row's number.
    let mut fours = columns.chunks_exact_mut(4 * stride);
    for four in &mut fours {
        let (a, others) = four.split_at_mut(stride);
        let (b, others) = others.split_at_mut(stride);
        let (c, d) = others.split_at_mut(stride);
        exchange_in([a, b, c, d].map(V::flat_mut), first, rows);
    }
    for column in fours.into_remainder().chunks_exact_mut(stride) {
        exchange_in([V::flat_mut(column)], first, rows);
    }
}

#[inline(always)]
fn exchange_in<T: Copy, const N: usize>(mut columns: [&mut [T]; N], first: usize, rows: &[i32]) {
    let len = columns[0].len();
    for (i, &row) in (first..).zip(rows) {
        for column in &mut columns {
            column[..len].swap(i, row as usize);
        }
    }
}

/// The rows of `U` from `first` on, as many as `panel` has columns: transposed, so that each is vectors of the columns.
#[inline(always)]
fn solve<V: Lanes>(panel: &[V], columns: &mut [V], stride: usize, first: usize) {
    let zero = panel[0].like(0.0);
    let len = panel.len() / stride;
    let (vector, tall) = (first / V::WIDTH, len.div_ceil(V::WIDTH));
    for columns in columns.chunks_mut(V::WIDTH * stride) {
        let mut block = [zero; PANEL];
        let rows = &mut block[..tall * V::WIDTH];
        for (c, column) in columns.chunks_exact(stride).enumerate() {
            for (q, &value) in column[vector..][..tall].iter().enumerate() {
                rows[q * V::WIDTH + c] = value;
            }
        }
        for square in rows.chunks_exact_mut(V::WIDTH) {
            V::transpose(square);
        }
        for (c, column) in panel.chunks_exact(stride).enumerate() {
            let factors = &V::flat(column)[first..][..len];
            let (known, others) = rows[..len].split_at_mut(c + 1);
            for (row, &l) in others.iter_mut().zip(&factors[c + 1..]) {
                *row = known[c].neg_mul_add(zero.like(l.f64()), *row);
            }
        }
        for square in rows.chunks_exact_mut(V::WIDTH) {
            V::transpose(square);
        }
        for (c, column) in columns.chunks_exact_mut(stride).enumerate() {
            for (q, value) in column[vector..][..tall].iter_mut().enumerate() {
                *value = rows[q * V::WIDTH + c];
            }
        }
    }
}
