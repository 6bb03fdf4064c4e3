//! Triangular systems, by substitution.

use super::block::{gather, scatter, transpose};
use super::dtype::InParts;
use super::field::{Field, FieldOf};
use super::kernel::{run_by_block, Kernel, Most};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows::triangular::Solve;
use super::together::Together;
use super::update::{subtract, subtract_panel, PANEL};
use matrices::{Form, Transpose, Triangle};
use std::ops::Range;

/// Rows and columns up to which this beats BLAS's `trsm`.
pub const MOST: Most = Most {
    real: 64,
    complex: 32,
};

/// Unknowns of one system up to which this beats BLAS's `trsm`, if there are [so many](LEAST_SIDES) right-hand sides.
pub const MOST_UNKNOWNS: Most = Most {
    real: 2048,
    complex: 0,
};

/// Right-hand sides from which on lanes are full enough for that.
pub const LEAST_SIDES: i32 = 8;

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
    /// Who helps with a large system.
    pub together: Together<'a>,
}

impl<'a, T> Trsm<'a, T> {
    /// Rows and columns of the triangular matrices.
    #[inline(always)]
    fn order(&self) -> usize {
        if self.form.left {
            self.m
        } else {
            self.n
        }
    }

    /// What is done with one system.
    #[inline(always)]
    fn alone(&self) -> Solve<'a> {
        Solve {
            form: self.form,
            order: self.order(),
            sides: if self.form.left { self.n } else { self.m },
            together: self.together,
        }
    }
}

impl<T: InParts> Kernel<T> for Trsm<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        (self.order().pow(2) + self.m * self.n) * T::PARTS
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        !T::COMPLEX && self.m.max(self.n) > MOST.real as usize
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        !self.alone_in_rows() && matrices > width / 4
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if self.alone_in_rows() {
            self.alone().scratch(width)
        } else {
            0
        }
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        let (square, size) = (self.order().pow(2), self.m * self.n);
        let problem = self.alone();
        let x = &self.x[one * square..][..square];
        let y = &mut self.y[one * size..][..size];
        problem.run(x, y, scratch);
    }

    run_by_block!();
}

impl<T: InParts> Trsm<'_, T> {
    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let (order, size) = (self.order(), self.m * self.n);
        let square = order * order;
        let y = &mut self.y[range.start * size..range.end * size];
        let (matrix, sides) = scratch.split_at_mut(square * T::PARTS);
        let x = &self.x[range.start * square..range.end * square];
        gather(T::parts(x), matrix);
        gather(T::parts(y), sides);
        let (matrix, known) = (F::numbers(matrix), F::numbers(sides));
        let transposed = self.form.transpose != Transpose::No;
        if transposed {
            transpose(matrix, order);
        }
        if T::COMPLEX && self.form.transpose == Transpose::Conjugate {
            for value in &mut *matrix {
                *value = value.conj();
            }
        }
        let lower = (self.form.triangle == Triangle::Lower) != transposed;
        let unit = self.form.unit;
        match (self.form.left, lower) {
            (true, true) => forward(matrix, known, order, unit),
            (true, false) => backward(matrix, known, order, unit),
            (false, _) => from_the_right(matrix, known, (self.m, order), lower, unit),
        }
        scatter(sides, T::parts_mut(y));
    }
}

/// `L S = Y`, in place of `Y`.
#[inline(always)]
fn forward<F: Field>(matrix: &[F], sides: &mut [F], order: usize, unit: bool) {
    for start in (0..order).step_by(PANEL) {
        let end = order.min(start + PANEL);
        let panel = &matrix[start * order..end * order];
        for side in sides.chunks_exact_mut(order) {
            let mut known = [side[0]; PANEL];
            for (c, column) in panel.chunks_exact(order).enumerate() {
                let j = start + c;
                known[c] = solved(side[j], column[j], unit);
                side[j] = known[c];
                subtract(&mut side[j + 1..end], [&column[j + 1..end]], [known[c]]);
            }
            subtract_panel(side, panel, order, end..order, &known[..end - start]);
        }
    }
}

/// `U S = Y`, in place of `Y`.
#[inline(always)]
fn backward<F: Field>(matrix: &[F], sides: &mut [F], order: usize, unit: bool) {
    for done in (0..order).step_by(PANEL) {
        let (start, end) = (order.saturating_sub(done + PANEL), order - done);
        let panel = &matrix[start * order..end * order];
        for side in sides.chunks_exact_mut(order) {
            let mut known = [side[0]; PANEL];
            for (c, column) in panel.chunks_exact(order).enumerate().rev() {
                let j = start + c;
                known[c] = solved(side[j], column[j], unit);
                side[j] = known[c];
                subtract(&mut side[start..j], [&column[start..j]], [known[c]]);
            }
            subtract_panel(side, panel, order, 0..start, &known[..end - start]);
        }
    }
}

/// `S X = Y`, in place of `Y` (`m` rows, as many columns as `X`): a column of `S` is known once those
/// before it (those after it, if `X` is a lower triangle) are taken away.
#[inline(always)]
fn from_the_right<F: Field>(
    matrix: &[F],
    sides: &mut [F],
    (m, order): (usize, usize),
    lower: bool,
    unit: bool,
) {
    for step in 0..order {
        let j = if lower { order - 1 - step } else { step };
        let column = &matrix[j * order..(j + 1) * order];
        let (before, rest) = sides.split_at_mut(j * m);
        let (side, after) = rest.split_at_mut(m);
        if lower {
            subtract_panel(side, after, m, 0..m, &column[j + 1..]);
        } else {
            subtract_panel(side, before, m, 0..m, &column[..j]);
        }
        for s in side {
            *s = solved(*s, column[j], unit);
        }
    }
}

#[inline(always)]
fn solved<F: Field>(value: F, diagonal: F, unit: bool) -> F {
    if unit {
        value
    } else {
        value.over(diagonal)
    }
}
