//! Cholesky factorisation: right-looking, as LAPACK's `potf2`.

use super::block::{finite, gather, scatter};
use super::{Float, Kernel, Lanes};
use crate::platform::lapack::{Precision, Triangle};
use std::ops::Range;

/// Rows up to which this beats LAPACK's `potrf`.
pub const MOST: i32 = 32;

/// What `info` is for a matrix with NaN or an infinity: no minor is positive definite.
pub const NOT_FINITE: i32 = 1;

/// A run of matrices of `n` × `n` and their `info`s.
pub struct Potrf<'a, T> {
    /// Rows and columns.
    pub n: usize,
    /// What is read and written.
    pub triangle: Triangle,
    /// The matrices, whose triangle becomes the factor. From the row and column on where the matrix
    /// is found not to be positive definite it becomes NaN.
    pub a: &'a mut [T],
    /// One each.
    pub info: &'a mut [i32],
}

impl<T> Potrf<'_, T> {
    /// Where column `j` of the lower triangle, from the diagonal on, is stored: start and step.
    #[inline(always)]
    fn column(&self, j: usize) -> (usize, usize) {
        let step = match self.triangle {
            Triangle::Lower => 1,
            Triangle::Upper => self.n,
        };
        (j * self.n + j, step)
    }
}

impl<T: Precision> Kernel<T> for Potrf<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.n * self.n
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, block: &mut [V])
    where
        T: Float,
    {
        let n = self.n;
        let size = n * n;
        let whole = range.start * size..range.end * size;
        let mut sum = V::of(0.0);
        for (j, column) in block.chunks_exact_mut(n).enumerate() {
            gather(
                &self.a[whole.clone()],
                size,
                self.column(j),
                &mut column[j..],
            );
            sum += finite(&column[j..]);
        }
        let failed = factor(n, block);
        for (j, column) in block.chunks_exact(n).enumerate() {
            let place = self.column(j);
            scatter(&column[j..], &mut self.a[whole.clone()], size, place);
        }
        let matrices = self.a[whole].chunks_exact_mut(size);
        for (lane, (a, info)) in matrices.zip(&mut self.info[range]).enumerate() {
            if sum.as_slice()[lane] == T::ZERO {
                *info = failed.as_slice()[lane].f64() as i32;
            } else {
                a.fill(T::NAN);
                *info = NOT_FINITE;
            }
        }
    }
}

/// Factors the lower triangle in place. Returns the order of the first minor that is not positive
/// definite, or 0.
#[inline(always)]
fn factor<V: Lanes>(n: usize, a: &mut [V]) -> V {
    let (zero, one, nan) = (V::of(0.0), V::of(1.0), V::of(f64::NAN));
    let (mut failed, mut order) = (zero, zero);
    for j in 0..n {
        let (done, rest) = a.split_at_mut((j + 1) * n);
        let column = &mut done[j * n + j..];
        order += one;
        let positive = |yes, no| zero.if_less(column[0], yes, no);
        let diagonal = positive(column[0], nan).sqrt();
        failed = failed.if_equal(zero, positive(zero, order), failed);
        let inverse = one / diagonal;
        column[0] = diagonal;
        let below = &mut column[1..];
        below.iter_mut().for_each(|l| *l = *l * inverse);
        for (c, other) in rest.chunks_exact_mut(n).enumerate() {
            let below = &below[c..];
            let factor = below[0];
            for (x, l) in other[j + 1 + c..].iter_mut().zip(below) {
                *x = l.neg_mul_add(factor, *x);
            }
        }
    }
    failed
}
