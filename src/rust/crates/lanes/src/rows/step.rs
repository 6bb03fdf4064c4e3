//! What is done for each column in a reduction to bidiagonal form.

use super::reduce::{dots, reflection};
use super::reflect::BLOCK;
use super::share::{share_by, worth_it};
use super::sweep::line;
use crate::householder;
use crate::lanes::{Float, Lanes};
use crate::operands::Gemver;
use crate::together::Together;
use std::ops::Range;

/// Parts of a pass over a large matrix: so many whoever helps, as their products are added up one after the other.
pub(super) const PARTS: usize = 8;

/// A matrix that is being reduced.
pub(super) struct Matrix<'a, V> {
    pub(super) m: usize,
    pub(super) n: usize,
    /// Vectors of a column and of a row.
    pub(super) tall: usize,
    pub(super) wide: usize,
    /// Vectors from one column to the next.
    pub(super) stride: usize,
    pub(super) a: &'a mut [V],
    pub(super) lanes: V,
    pub(super) together: Together<'a>,
}

/// The diagonal and what is right of it, the factors of the left and the right reflections, `n` each, and room for the
/// right reflections, as columns: that of row `j` is in column `j`, from row `j + 1` on.
pub(super) struct Reduced<'a, T> {
    pub(super) d: &'a mut [T],
    pub(super) e: &'a mut [T],
    pub(super) left: &'a mut [T],
    pub(super) right: &'a mut [T],
    /// Nothing where they are not wanted.
    pub(super) reflections: &'a mut [T],
}

impl<V: Lanes> Matrix<'_, V> {
    /// As [`gemvt`](super::gemver::gemvt), by several threads.
    #[inline(always)]
    pub(super) fn multiply(&self, step: &Gemver<'_, V>, results: [&mut [V]; 3], parts: &mut [V]) {
        let a = &*self.a;
        let pass = Pass {
            stride: self.stride,
            planes: 1,
            which: step.which.clone(),
            rows: step.top..step.end,
            operations: 4 * step.which.len() * (self.m - step.row),
        };
        pass.share(self.together, results, parts, &|which, results| {
            let step = Gemver {
                which,
                ..step.clone()
            };
            V::gemvt(a, &step, results);
        });
    }

    /// The reflection of row `j` right of the diagonal, which `x` is; `u` becomes its vector.
    #[inline(always)]
    pub(super) fn reflect_row(
        &self,
        j: usize,
        x: &mut [V],
        u: &mut [V],
        results: &mut Reduced<'_, V::Float>,
    ) -> Made {
        let first = j + 1;
        let (line, zero) = (line::<V>(), self.lanes.like(0.0));
        let x = &mut x[..self.wide];
        let from = first / line * line / V::WIDTH;
        // What is that small is rounding of the largest elements, which are near 1; its squares would be inexact.
        let [square] = dots(&x[from..], [&x[from..]]);
        let alpha = V::flat(x)[first];
        if square.any_less(householder::Range::like(zero).tiny) {
            x[from..].fill(zero);
            V::flat_mut(x)[first] = alpha;
        }
        (results.e[j], results.right[j]) = reflection(x, first, &mut u[..self.wide]);
        if !results.reflections.is_empty() {
            let to = &mut results.reflections[j * self.n..][first..self.n];
            to.copy_from_slice(&V::flat(u)[first..self.n]);
        }
        Made {
            alpha: alpha.f64(),
            beta: results.e[j].f64(),
            tau: results.right[j].f64(),
            top: first / BLOCK * BLOCK / V::WIDTH,
        }
    }

    /// `w`, the product of the matrix with row `j` before its reflection, becomes that with the vector `u` of the
    /// reflection.
    #[inline(always)]
    pub(super) fn begin(&self, w: &mut [V], j: usize, made: &Made) {
        let top = j / BLOCK * BLOCK / V::WIDTH;
        let w = &mut w[top..self.tall];
        if made.tau == 0.0 {
            return w.fill(self.lanes.like(0.0));
        }
        let beta = self.lanes.like(made.beta);
        let factor = self.lanes.like(1.0) / self.lanes.like(made.alpha - made.beta);
        let column = &self.a[(j + 1) * self.stride..][top..self.tall];
        for (w, column) in w.iter_mut().zip(column) {
            *w = column.neg_mul_add(beta, *w) * factor;
        }
    }

    /// `w` becomes what is to be taken from the matrix with the row `u`, once `y` is taken with the column `v`.
    #[inline(always)]
    pub(super) fn finish(&self, w: &mut [V], [v, y, u]: [&[V]; 3], j: usize, made: &Made) {
        let first = j / BLOCK * BLOCK;
        let rows = first / V::WIDTH..self.tall;
        let [along] = dots(&u[made.top..self.wide], [&y[made.top..self.wide]]);
        let factor = self.lanes.like(made.tau);
        for (w, v) in w[rows.clone()].iter_mut().zip(&v[rows]) {
            *w = factor * v.neg_mul_add(along, *w);
        }
        V::flat_mut(w)[first..=j].fill(V::Float::of(0.0));
    }
}

/// A pass over some columns of a matrix, or of the parts of a complex one, in the vectors `rows`.
pub(super) struct Pass {
    pub(super) stride: usize,
    /// 2 where vectors have real and imaginary parts.
    pub(super) planes: usize,
    pub(super) which: Range<usize>,
    pub(super) rows: Range<usize>,
    pub(super) operations: usize,
}

/// What a pass over some columns does: it gives their elements of two rows, and what they add to a column.
type Over<'a, V> = &'a (dyn Fn(Range<usize>, [&mut [V]; 3]) + Sync);

impl Pass {
    /// By several threads, each of which takes some of the columns.
    #[inline(always)]
    pub(super) fn share<V: Lanes>(
        &self,
        together: Together<'_>,
        [y, x, w]: [&mut [V]; 3],
        parts: &mut [V],
        over: Over<'_, V>,
    ) {
        if !worth_it(self.operations) {
            return over(self.which.clone(), [y, x, w]);
        }
        let (line, stride) = (line::<V>(), self.stride);
        let (first, each) = (self.which.start, self.planes * stride);
        let start = |at: usize| match at {
            0 => first,
            _ => (first + self.which.len() * at / PARTS).next_multiple_of(line),
        };
        let least = 1;
        share_by(
            least,
            together,
            self.operations,
            (&mut *parts, 3 * each),
            &mut [],
            &|at, part, _| {
                for (part, at) in part.chunks_exact_mut(3 * each).zip(at..) {
                    let (y, part) = part.split_at_mut(each);
                    let (x, w) = part.split_at_mut(each);
                    over(start(at)..start(at + 1), [y, x, w]);
                }
            },
        );
        for plane in (0..each).step_by(stride) {
            let w = &mut w[plane..][self.rows.clone()];
            w.fill(w[0].like(0.0));
            for (at, part) in parts.chunks_exact(3 * each).enumerate() {
                let which = start(at) / line * line / V::WIDTH..start(at + 1) / V::WIDTH;
                for (to, own) in [&mut *y, &mut *x].into_iter().zip(part.chunks_exact(each)) {
                    to[plane..][which.clone()].copy_from_slice(&own[plane..][which.clone()]);
                }
                let own = &part[2 * each + plane..][self.rows.clone()];
                for (w, own) in w.iter_mut().zip(own) {
                    *w += *own;
                }
            }
        }
    }
}

/// A reflection of a row: it takes `alpha` to `beta`, and its vector begins in a line from vector `top` on.
pub(super) struct Made {
    alpha: f64,
    beta: f64,
    tau: f64,
    pub(super) top: usize,
}
