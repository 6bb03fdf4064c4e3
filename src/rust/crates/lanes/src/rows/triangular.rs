//! One triangular system with many right-hand sides: `S U = Y` with the rows of `S` in lanes, a column after those
//! before it. The other forms are this one, transposed, or with rows and columns in reverse order.
//!
//! As in lu and Cholesky, after panel t the 2^v panels before it (v: the zeros at the end of t in binary) act on the
//! next 2^v. Rows of `S` are systems of their own, so strips of rows are what threads share.

use super::product::{packed, HEIGHT};
use super::share::{share_by, worth_it};
use super::{panel, waiting};
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product, Substitution};
use crate::together::Together;
use matrices::{Form, Transpose, Triangle};

/// The largest [`panel`].
const PANEL: usize = 16;

/// Rows and columns of what is turned at a time, so that what is read stays in the cache.
const TILE: usize = 16;

/// Strips of rows that there is room for: what a system with many right-hand sides works in is no more.
const STRIPS: usize = 16;

/// A system of `order` unknowns with `sides` right-hand sides.
pub(crate) struct Solve<'a> {
    pub(crate) form: Form,
    pub(crate) order: usize,
    pub(crate) sides: usize,
    pub(crate) together: Together<'a>,
}

impl Solve<'_> {
    /// Whether `U` is what is stored, transposed.
    #[inline(always)]
    fn turned(&self) -> bool {
        self.form.left == (self.form.transpose == Transpose::No)
    }

    /// Whether that would be a lower triangle, which is an upper one in reverse order.
    #[inline(always)]
    fn reversed(&self) -> bool {
        (self.form.triangle == Triangle::Lower) != self.turned()
    }

    #[inline(always)]
    fn operations(&self) -> usize {
        self.order * self.order * self.sides
    }

    /// Vectors of `width` rows in a strip, and strips.
    #[inline(always)]
    fn strips(&self, width: usize) -> (usize, usize) {
        let vectors = self.sides.div_ceil(width);
        let mut strips = vectors.div_ceil(HEIGHT);
        if worth_it(self.operations()) {
            strips = strips.next_multiple_of(self.together.threads.max(1));
        }
        let tall = vectors.div_ceil(strips);
        (tall, vectors.div_ceil(tall))
    }

    /// Vectors of `width` numbers that [`run`](Solve::run) works in.
    #[inline(always)]
    pub(crate) fn scratch(&self, width: usize) -> usize {
        let n = self.order;
        let (tall, strips) = self.strips(width);
        n * n.div_ceil(width) + strips.min(STRIPS) * tall * n + packed(tall, n, width)
    }

    /// The right-hand sides `y` become the unknowns.
    #[inline(always)]
    pub(crate) fn run<V: Lanes>(&self, x: &[V::Float], y: &mut [V::Float], scratch: &mut [V]) {
        let n = self.order;
        let stride = n.div_ceil(V::WIDTH);
        let (tall, strips) = self.strips(V::WIDTH);
        let (upper, scratch) = scratch.split_at_mut(n * stride);
        let (room, work) = scratch.split_at_mut(strips.min(STRIPS) * tall * n);
        self.load_triangle(x, V::flat_mut(upper), stride * V::WIDTH);
        let step = Substitution {
            upper,
            stride,
            tall,
            unit: self.form.unit,
        };
        let rows = tall * V::WIDTH;
        for first in (0..strips).step_by(STRIPS) {
            let count = STRIPS.min(strips - first);
            let room = &mut room[..count * tall * n];
            let given = &*y;
            share_by(
                1,
                self.together,
                self.operations(),
                (&mut *room, tall * n),
                work,
                &|at, strips, work| {
                    for (at, strip) in (first + at..).zip(strips.chunks_exact_mut(tall * n)) {
                        self.load(given, at * rows, V::flat_mut(strip), rows);
                        V::substitute(strip, &step, work);
                    }
                },
            );
            for (at, strip) in (first..).zip(room.chunks_exact(tall * n)) {
                self.store(V::flat(strip), rows, at * rows, y);
            }
        }
    }

    /// `U` by columns, each `rows` long, of which no more than the upper triangle is set.
    #[inline(always)]
    fn load_triangle<T: Float>(&self, x: &[T], upper: &mut [T], rows: usize) {
        let n = self.order;
        let (turned, reversed) = (self.turned(), self.reversed());
        for left in (0..n).step_by(TILE) {
            let right = n.min(left + TILE);
            for k in 0..right {
                for j in left.max(k)..right {
                    let (row, column) = if reversed {
                        (n - 1 - k, n - 1 - j)
                    } else {
                        (k, j)
                    };
                    let from = if turned {
                        row * n + column
                    } else {
                        column * n + row
                    };
                    upper[j * rows + k] = x[from];
                }
            }
        }
    }

    /// The column of `y`, or, to the right of the triangle, of its transposed, that is column `j` of `S`.
    #[inline(always)]
    fn place(&self, j: usize) -> usize {
        if self.reversed() {
            self.order - 1 - j
        } else {
            j
        }
    }

    /// The rows from `first` on become a strip of columns, each `rows` long; what is beyond the last one becomes 0.
    #[inline(always)]
    fn load<T: Float>(&self, y: &[T], first: usize, strip: &mut [T], rows: usize) {
        let (n, m) = (self.order, self.sides);
        let count = rows.min(m - first);
        if !self.form.left {
            for (j, column) in strip.chunks_exact_mut(rows).enumerate() {
                let from = self.place(j) * m + first;
                column[..count].copy_from_slice(&y[from..from + count]);
                column[count..].fill(T::of(0.0));
            }
            return;
        }
        for column in strip.chunks_exact_mut(rows) {
            column[count..].fill(T::of(0.0));
        }
        for left in (0..n).step_by(TILE) {
            for r in 0..count {
                let side = &y[(first + r) * n..][..n];
                for j in left..n.min(left + TILE) {
                    strip[j * rows + r] = side[self.place(j)];
                }
            }
        }
    }

    /// The way back of [`load`](Solve::load).
    #[inline(always)]
    fn store<T: Float>(&self, strip: &[T], rows: usize, first: usize, y: &mut [T]) {
        let (n, m) = (self.order, self.sides);
        let count = rows.min(m - first);
        if !self.form.left {
            for (j, column) in strip.chunks_exact(rows).enumerate() {
                let to = self.place(j) * m + first;
                y[to..to + count].copy_from_slice(&column[..count]);
            }
            return;
        }
        for left in (0..n).step_by(TILE) {
            for r in 0..count {
                let side = &mut y[(first + r) * n..][..n];
                for j in left..n.min(left + TILE) {
                    side[self.place(j)] = strip[j * rows + r];
                }
            }
        }
    }
}

/// See [`Substitution`]; what `work` has room for is [`packed`].
#[inline(always)]
pub(crate) fn substitute<V: Lanes>(strip: &mut [V], step: &Substitution<'_, V>, work: &mut [V]) {
    let &Substitution {
        upper,
        stride,
        tall,
        ..
    } = step;
    let n = strip.len() / tall;
    let width = panel(V::WIDTH);
    for done in 1..=n.div_ceil(width) {
        let (start, end) = ((done - 1) * width, n.min(done * width));
        let (known, rest) = strip.split_at_mut(end * tall);
        let columns = &mut known[start * tall..];
        if width == PANEL {
            solve_panel::<V, PANEL>(columns, step, start);
        } else {
            solve_panel::<V, { PANEL / 2 }>(columns, step, start);
        }
        if rest.is_empty() {
            return;
        }
        let first = end - waiting(done) * width;
        let to = (waiting(done) * width).min(n - end);
        let step = Product {
            stride: tall,
            rows: 0..tall,
            known: &known[first * tall..],
            first: (first, end),
            factors: Factors::Apart(&upper[end * stride..], stride, first),
        };
        V::product(&mut rest[..to * tall], &step, work);
    }
}

/// The columns of a panel, up to `N`, whose first one is `start`.
#[inline(always)]
fn solve_panel<V: Lanes, const N: usize>(
    columns: &mut [V],
    step: &Substitution<'_, V>,
    start: usize,
) {
    let zero = columns[0].like(0.0);
    let (none, one) = (V::Float::of(0.0), V::Float::of(1.0));
    let mut diagonal = [one; N];
    let mut factors = [[none; N]; N];
    for (c, column) in step.upper[start * step.stride..]
        .chunks_exact(step.stride)
        .take(columns.len() / step.tall)
        .enumerate()
    {
        let column = &V::flat(column)[start..];
        if !step.unit {
            diagonal[c] = column[c];
        }
        for (k, &factor) in column[..c].iter().enumerate() {
            factors[k][c] = factor;
        }
    }
    for q in 0..step.tall {
        let mut found = [zero; N];
        for (found, column) in found.iter_mut().zip(columns.chunks_exact(step.tall)) {
            *found = column[q];
        }
        for c in 0..N {
            if !step.unit {
                found[c] = found[c] / zero.like(diagonal[c].f64());
            }
            let known = found[c];
            for d in c + 1..N {
                found[d] = known.neg_mul_add(zero.like(factors[c][d].f64()), found[d]);
            }
        }
        for (found, column) in found.iter().zip(columns.chunks_exact_mut(step.tall)) {
            column[q] = *found;
        }
    }
}
