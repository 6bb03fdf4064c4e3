//! `L` and `U` of one matrix.

use super::getf2::{exchange_rows, Panel};
use super::share::share;
use super::{panel, waiting, Columns};
use crate::field::Field;
use crate::lanes::Lanes;
use crate::operands::{Factors, Product, Step};
use crate::pair::Pair;
use crate::together::Together;
use std::ops::Range;

/// The largest [`panel`].
const PANEL: usize = 16;

/// Factors in place, in room of [`packed`](super::packed); `rows` become the rows of the pivots, counted from 0. Returns the
/// first column, counted from 1, where the pivot is 0, or 0.
#[inline(always)]
pub(crate) fn factor<V: Lanes, const PARTS: usize>(
    matrix: &mut Columns<'_, V>,
    rows: &mut [i32],
) -> i32 {
    let (m, stride, together, a, work) = matrix.parts();
    let (m, n) = (m / PARTS, a.len() / stride);
    let (turned, work) = work.split_at_mut((PARTS - 1) * stride);
    let width = panel(V::WIDTH);
    let rank = rows.len();
    let mut singular = 0;
    for done in 1..=rank.div_ceil(width) {
        let (start, end) = ((done - 1) * width, rank.min(done * width));
        let mut panel = Panel {
            m,
            stride,
            start,
            columns: &mut a[start * stride..end * stride],
        };
        let zero = panel.eliminate::<PARTS>(&mut rows[start..end], turned);
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
            exchange::<V, PARTS>(&mut a[left], stride, first, &rows[first..end]);
            half *= 2;
        }
        let (left, right) = a.split_at_mut(end * stride);
        let step = Step {
            parts: PARTS,
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
        exchange::<V, PARTS>(&mut a[left], stride, first, &rows[first..]);
    }
    if rank < n {
        let (known, right) = a.split_at_mut(rank * stride);
        let step = Step {
            parts: PARTS,
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
            let operations =
                self.known.len() / self.stride * self.parts * columns.len() * V::WIDTH * 2;
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
    if step.parts == 1 {
        follow_by::<V, 1>(columns, step, work);
    } else {
        follow_by::<Pair<V>, 2>(columns, step, work);
    }
}

/// The same where numbers are those of `F`.
#[inline(always)]
fn follow_by<F: Field, const PARTS: usize>(
    columns: &mut [F::Real],
    step: &Step<'_, F::Real>,
    work: &mut [F::Real],
) {
    let Step {
        m,
        stride,
        known,
        first,
        rows,
        ..
    } = *step;
    exchange::<F::Real, PARTS>(columns, stride, first, rows);
    let width = F::Real::WIDTH;
    let take = |columns: &mut [_], from: Range<usize>, rows: Range<usize>, work: &mut [_]| {
        let step = Product {
            stride,
            rows: (PARTS * rows.start).div_ceil(width)..(PARTS * rows.end).div_ceil(width),
            known: &known[from.start * stride..from.end * stride],
            first: (first + from.start, 0),
            factors: if PARTS == 1 {
                Factors::Above
            } else {
                Factors::ComplexAbove
            },
        };
        F::Real::product(columns, &step, work);
    };
    let width = panel(width);
    // As in the factorisation: rows of `U` come together in pairs, fours, and so on.
    for done in 1..=rows.len().div_ceil(width) {
        let (start, end) = ((done - 1) * width, rows.len().min(done * width));
        let panel = &known[start * stride..end * stride];
        solve::<F>(panel, columns, stride, first + start);
        let count = waiting(done);
        let below = first + end..first + rows.len().min(end + count * width);
        if !below.is_empty() {
            take(columns, end - count * width..end, below, work);
        }
    }
    take(columns, 0..rows.len(), first + rows.len()..m, work);
}

/// Exchanges rows from `first` on with `rows` in each of the columns.
#[inline(always)]
fn exchange<V: Lanes, const PARTS: usize>(
    columns: &mut [V],
    stride: usize,
    first: usize,
    rows: &[i32],
) {
    if rows.is_empty() {
        return;
    }
    // Several columns share the look at a row's number.
    let mut fours = columns.chunks_exact_mut(4 * stride);
    for four in &mut fours {
        let (a, others) = four.split_at_mut(stride);
        let (b, others) = others.split_at_mut(stride);
        let (c, d) = others.split_at_mut(stride);
        exchange_in::<_, 4, PARTS>([a, b, c, d].map(V::flat_mut), first, rows);
    }
    for column in fours.into_remainder().chunks_exact_mut(stride) {
        exchange_in::<_, 1, PARTS>([V::flat_mut(column)], first, rows);
    }
}

#[inline(always)]
fn exchange_in<T: Copy, const N: usize, const PARTS: usize>(
    mut columns: [&mut [T]; N],
    first: usize,
    rows: &[i32],
) {
    let len = columns[0].len();
    for (i, &row) in (first..).zip(rows) {
        for column in &mut columns {
            exchange_rows::<T, PARTS>(&mut column[..len], i, row as usize);
        }
    }
}

/// The rows of `U` from `first` on, as many as `panel` has columns: transposed, so that each is vectors of the columns.
#[inline(always)]
fn solve<F: Field>(panel: &[F::Real], columns: &mut [F::Real], stride: usize, first: usize) {
    let (zero, lanes) = (panel[0].like(0.0), F::Real::WIDTH);
    let len = panel.len() / stride;
    let (vector, tall) = (first * F::PARTS / lanes, (len * F::PARTS).div_ceil(lanes));
    for columns in columns.chunks_mut(lanes * stride) {
        let mut block = [F::of(zero); PANEL];
        let rows = &mut F::parts(&mut block)[..tall * lanes];
        for (c, column) in columns.chunks_exact(stride).enumerate() {
            for (q, &value) in column[vector..][..tall].iter().enumerate() {
                rows[q * lanes + c] = value;
            }
        }
        for square in rows.chunks_exact_mut(lanes) {
            F::Real::transpose(square);
        }
        for (c, column) in panel.chunks_exact(stride).enumerate() {
            let factors = &F::Real::flat(column)[first * F::PARTS..][..len * F::PARTS];
            let (known, others) = block[..len].split_at_mut(c + 1);
            let factors = factors.chunks_exact(F::PARTS).skip(c + 1);
            for (row, l) in others.iter_mut().zip(factors) {
                *row = row.less_product(known[c], F::all(zero, l));
            }
        }
        let rows = &mut F::parts(&mut block)[..tall * lanes];
        for square in rows.chunks_exact_mut(lanes) {
            F::Real::transpose(square);
        }
        for (c, column) in columns.chunks_exact_mut(stride).enumerate() {
            for (q, value) in column[vector..][..tall].iter_mut().enumerate() {
                *value = rows[q * lanes + c];
            }
        }
    }
}
