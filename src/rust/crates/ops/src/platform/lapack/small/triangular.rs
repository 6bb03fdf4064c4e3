//! Triangular systems, by substitution.

use super::block::{gather, scatter};
use super::{Float, Kernel, Lanes};
use crate::platform::lapack::routines::{Form, Transpose};
use crate::platform::lapack::{Precision, Triangle};
use std::ops::Range;

/// Rows and columns up to which this beats BLAS's `trsm`.
pub const MOST: i32 = 32;

/// A run of triangular matrices, and as many of right-hand sides (`m` × `n`).
pub struct Trsm<'a, T> {
    /// Which system.
    pub form: Form,
    /// Rows of `y`.
    pub m: usize,
    /// Columns of `y`.
    pub n: usize,
    /// Triangular matrices: `m` × `m` to the left of the unknowns, `n` × `n` to their right.
    pub x: &'a [T],
    /// The right-hand sides, which become the unknowns.
    pub y: &'a mut [T],
}

impl<T> Trsm<'_, T> {
    /// Unknowns of a system, and the systems that a matrix has.
    #[inline(always)]
    fn sizes(&self) -> (usize, usize) {
        if self.form.left {
            (self.m, self.n)
        } else {
            (self.n, self.m)
        }
    }
}

impl<T: Precision> Kernel<T> for Trsm<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        let (order, systems) = self.sizes();
        order * (order + systems)
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        let (order, systems) = self.sizes();
        let (square, size) = (order * order, self.m * self.n);
        let x = &self.x[range.start * square..range.end * square];
        let y = &mut self.y[range.start * size..range.end * size];
        let (matrix, sides) = scratch.split_at_mut(square);

        // `S X = Y` is `Xᵀ Sᵀ = Yᵀ`.
        let transposed = (self.form.transpose != Transpose::No) == self.form.left;
        let lower = (self.form.triangle == Triangle::Lower) != transposed;
        for (j, column) in matrix.chunks_exact_mut(order).enumerate() {
            let rows = if lower { j..order } else { 0..j + 1 };
            let (row, step) = if transposed { (order, order) } else { (1, 1) };
            let start = if transposed { j } else { j * order };
            gather(
                x,
                square,
                (start + rows.start * row, step),
                &mut column[rows],
            );
        }
        let place = |system: usize| {
            if self.form.left {
                (system * order, 1)
            } else {
                (system, systems)
            }
        };
        for (system, side) in sides.chunks_exact_mut(order).enumerate() {
            gather(y, size, place(system), side);
            if lower {
                forward(matrix, side, self.form.unit);
            } else {
                backward(matrix, side, self.form.unit);
            }
            scatter(side, y, size, place(system));
        }
    }
}

/// With a lower triangle.
#[inline(always)]
fn forward<V: Lanes>(matrix: &[V], side: &mut [V], unit: bool) {
    for (j, column) in matrix.chunks_exact(side.len()).enumerate() {
        let (known, rest) = side.split_at_mut(j + 1);
        let value = &mut known[j];
        if !unit {
            *value = *value / column[j];
        }
        for (y, x) in rest.iter_mut().zip(&column[j + 1..]) {
            *y = x.neg_mul_add(*value, *y);
        }
    }
}

/// With an upper triangle.
#[inline(always)]
fn backward<V: Lanes>(matrix: &[V], side: &mut [V], unit: bool) {
    for (j, column) in matrix.chunks_exact(side.len()).enumerate().rev() {
        let (rest, known) = side.split_at_mut(j);
        let value = &mut known[0];
        if !unit {
            *value = *value / column[j];
        }
        for (y, x) in rest.iter_mut().zip(column) {
            *y = x.neg_mul_add(*value, *y);
        }
    }
}
