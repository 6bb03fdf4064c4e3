//! LU factorisation with partial pivoting: right-looking, as LAPACK's `getf2`.

use super::block::{finite, gather, scatter};
use super::{Float, Kernel, Lanes};
use crate::platform::lapack::Precision;
use std::ops::Range;

/// Rows and columns up to which this beats LAPACK's `getrf`.
pub const MOST: i32 = 32;

/// A run of matrices of `m` × `n`, their pivots and `info`s.
pub struct Lu<'a, T> {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// The matrices, which become `L` and `U`.
    pub a: &'a mut [T],
    /// `min(m, n)` each.
    pub pivots: &'a mut [i32],
    /// One each.
    pub info: &'a mut [i32],
}

impl<T: Precision> Kernel<T> for Lu<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.m * self.n + self.m.min(self.n)
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        let (m, n) = (self.m, self.n);
        let (size, rank) = (m * n, m.min(n));
        let a = &mut self.a[range.start * size..range.end * size];
        let (block, rows) = scratch.split_at_mut(size);
        gather(a, size, (0, 1), block);
        let finite = finite(block);
        let singular = factor(m, block, rows);
        scatter(block, a, size, (0, 1));
        let pivots = self.pivots[range.start * rank..range.end * rank].chunks_exact_mut(rank);
        let matrices = a.chunks_exact_mut(size).zip(pivots);
        for (lane, ((a, pivots), info)) in matrices.zip(&mut self.info[range]).enumerate() {
            if finite.as_slice()[lane] == T::ZERO {
                for (pivot, row) in pivots.iter_mut().zip(&*rows) {
                    *pivot = row.as_slice()[lane].f64() as i32 + 1;
                }
                *info = singular.as_slice()[lane].f64() as i32;
            } else {
                not_finite(a, pivots, info);
            }
        }
    }
}

/// What a matrix with NaN or an infinity gives.
#[cold]
pub fn not_finite<T: Precision>(a: &mut [T], pivots: &mut [i32], info: &mut i32) {
    a.fill(T::NAN);
    pivots.iter_mut().zip(1..).for_each(|(p, i)| *p = i);
    *info = 0;
}

/// Factors in place; `rows` become the rows of the pivots, counted from 0. Returns the first column,
/// counted from 1, where the pivot is 0, or 0.
#[inline(always)]
fn factor<V: Lanes>(m: usize, a: &mut [V], rows: &mut [V]) -> V {
    let (zero, one) = (V::of(0.0), V::of(1.0));
    let smallest = V::splat(V::Float::SMALLEST);
    let mut singular = zero;
    let mut place = zero;
    for (j, pivot_row) in rows.iter_mut().enumerate() {
        let (done, rest) = a.split_at_mut((j + 1) * m);
        let (left, column) = done.split_at_mut(j * m);
        let at = largest(&column[j..], place);
        *pivot_row = at;
        exchange(left, m, j, at, place);
        exchange(column, m, j, at, place);
        exchange(rest, m, j, at, place);
        place += one;

        let (pivot, below) = split(column, j);
        singular = singular.if_equal(zero, pivot.if_equal(zero, place, zero), singular);
        let pivot = pivot.if_equal(zero, one, pivot);
        let inverse = one / pivot;
        if pivot.abs().any_less(smallest) {
            // The reciprocal may be infinite.
            for l in &mut *below {
                let size = pivot.abs();
                *l = size.if_less(smallest, *l / pivot, *l * inverse);
            }
        } else {
            below.iter_mut().for_each(|l| *l = *l * inverse);
        }
        for other in rest.chunks_exact_mut(m) {
            let (top, others) = split(other, j);
            for (x, l) in others.iter_mut().zip(&*below) {
                *x = l.neg_mul_add(top, *x);
            }
        }
    }
    singular
}

/// Element `j`, and those after it.
#[inline(always)]
fn split<V: Lanes>(column: &mut [V], j: usize) -> (V, &mut [V]) {
    let (head, tail) = column.split_at_mut(j + 1);
    (head[j], tail)
}

/// The row, from `first` on, of the first element that is largest in magnitude.
#[inline(always)]
fn largest<V: Lanes>(column: &[V], first: V) -> V {
    let one = V::of(1.0);
    let (mut size, mut at, mut row) = (V::of(-1.0), first, first);
    for value in column {
        let value = value.abs();
        at = size.if_less(value, row, at);
        size = size.if_less(value, value, size);
        row += one;
    }
    at
}

/// Exchanges row `j` (in all lanes of `place`) with row `at` in all columns.
#[inline(always)]
fn exchange<V: Lanes>(columns: &mut [V], m: usize, j: usize, at: V, place: V) {
    if m - j > V::WIDTH {
        for (lane, row) in at.as_slice().iter().enumerate() {
            let row = row.f64() as usize;
            if row == j {
                continue;
            }
            for column in columns.chunks_exact_mut(m) {
                let (a, b) = (column[j].as_slice()[lane], column[row].as_slice()[lane]);
                column[j].as_mut_slice()[lane] = b;
                column[row].as_mut_slice()[lane] = a;
            }
        }
        return;
    }
    let one = V::of(1.0);
    for column in columns.chunks_exact_mut(m) {
        let (old, below) = split(column, j);
        let (mut new, mut row) = (old, place);
        for value in below {
            row += one;
            new = at.if_equal(row, *value, new);
            *value = at.if_equal(row, old, *value);
        }
        column[j] = new;
    }
}
