//! Sums over columns: what the time of a factorisation goes into.

use super::field::Field;
use super::lanes::Lanes;
use std::ops::Range;

/// Columns that are taken into account at a time.
pub(crate) const PANEL: usize = 4;

/// Rows that are one vector where there is a single lane.
const CHUNK: usize = 8;

/// `to[i] -= from[0][i] factors[0]`, then the same of `from[1]` and so on: rounded after each, so
/// that the result is that of one at a time. All slices have `to`'s length, or more.
#[inline(always)]
pub(crate) fn subtract<F: Field, const N: usize>(
    to: &mut [F],
    mut from: [&[F]; N],
    factors: [F; N],
) {
    let len = to.len();
    // Not by `map`, which is not always inlined.
    for from in &mut from {
        *from = &from[..len];
    }
    let mut done = 0;
    if F::Real::WIDTH == 1 {
        // Straight-line code over a chunk becomes vectors of rows.
        while len - done >= CHUNK {
            let to = &mut to[done..done + CHUNK];
            let mut values = [to[0]; CHUNK];
            values.copy_from_slice(to);
            for (from, factor) in from.iter().zip(factors) {
                let from = &from[done..done + CHUNK];
                for i in 0..CHUNK {
                    values[i] = values[i].less_product(from[i], factor);
                }
            }
            to.copy_from_slice(&values);
            done += CHUNK;
        }
    }
    for (i, to) in to.iter_mut().enumerate().skip(done) {
        let mut value = *to;
        for (from, factor) in from.iter().zip(factors) {
            value = value.less_product(from[i], factor);
        }
        *to = value;
    }
}

/// Each value times `factor`.
#[inline(always)]
pub(crate) fn scale<F: Field>(values: &mut [F], factor: F::Real) {
    for value in values {
        *value = value.times(factor);
    }
}

/// The largest [size](Field::size), or `zero`.
#[inline(always)]
pub(crate) fn largest<F: Field>(zero: F::Real, values: &[F]) -> F::Real {
    let mut parts = [zero; CHUNK];
    let mut chunks = values.chunks_exact(CHUNK);
    for chunk in &mut chunks {
        for i in 0..CHUNK {
            parts[i] = parts[i].max(chunk[i].size());
        }
    }
    let mut largest = zero;
    for part in parts {
        largest = largest.max(part);
    }
    for value in chunks.remainder() {
        largest = largest.max(value.size());
    }
    largest
}

/// [`subtract`] from `rows` of `to`, of those of each column of `panel` (`m` rows each), of which
/// there are as many as factors.
#[inline(always)]
pub(crate) fn subtract_panel<F: Field>(
    to: &mut [F],
    panel: &[F],
    m: usize,
    rows: Range<usize>,
    factors: &[F],
) {
    let mut fours = factors.chunks_exact(PANEL);
    let mut columns = panel;
    for factors in &mut fours {
        let (four, rest) = columns.split_at(PANEL * m);
        columns = rest;
        let (mut from, mut by) = ([&four[..0]; PANEL], [factors[0]; PANEL]);
        by.copy_from_slice(factors);
        for (from, column) in from.iter_mut().zip(four.chunks_exact(m)) {
            *from = &column[rows.clone()];
        }
        subtract(&mut to[rows.clone()], from, by);
    }
    for (&factor, column) in fours.remainder().iter().zip(columns.chunks_exact(m)) {
        subtract(&mut to[rows.clone()], [&column[rows.clone()]], [factor]);
    }
}

/// Inner products of `x` with several columns of its length, which do not wait for one another:
/// `sums[c]` plus those with `columns[c]`. How they are added up depends on the length only.
#[inline(always)]
pub(crate) fn products<F: Field, const N: usize>(
    x: &[F],
    mut columns: [&[F]; N],
    mut sums: [F; N],
) -> [F; N] {
    for column in &mut columns {
        *column = &column[..x.len()];
    }
    let mut done = 0;
    if x.len() >= CHUNK {
        let mut parts = [[F::of(x[0].re().like(0.0)); CHUNK]; N];
        while x.len() - done >= CHUNK {
            let x = &x[done..done + CHUNK];
            for (parts, column) in parts.iter_mut().zip(&columns) {
                let column = &column[done..done + CHUNK];
                for i in 0..CHUNK {
                    parts[i] = parts[i].plus_inner(x[i], column[i]);
                }
            }
            done += CHUNK;
        }
        for (sum, p) in sums.iter_mut().zip(parts) {
            *sum = *sum + (((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7])));
        }
    }
    for i in done..x.len() {
        for (sum, column) in sums.iter_mut().zip(&columns) {
            *sum = sum.plus_inner(x[i], column[i]);
        }
    }
    sums
}
