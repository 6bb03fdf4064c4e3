//! Singular values and vectors of one matrix by its bidiagonal form: divide and conquer, and back by blocks of
//! reflections, as LAPACK's `gesdd`.

use super::back::{room_for_reflections, Reflections};
use super::bdsdc::Bdsdc;
use super::bidiagonal::{bidiagonal, work_to_reduce, Reduced};
use super::near::{descending, unit, write};
use super::Failure;
use crate::lanes::Lanes;
use crate::scale::Scale;
use crate::together::Together;

/// A matrix of `m` rows and `n` columns, which are not more, `stride` vectors from one to the next.
pub(super) struct Triplets<'a> {
    pub(super) m: usize,
    pub(super) n: usize,
    /// Left singular vectors, at least `n`; 0 where no vectors are wanted.
    pub(super) columns: usize,
    pub(super) stride: usize,
    pub(super) together: Together<'a>,
}

impl<'a> Triplets<'a> {
    /// The bidiagonal form.
    #[inline(always)]
    fn bdsdc(&self) -> Bdsdc<'a> {
        Bdsdc {
            n: self.n,
            stride: self.stride,
            vectors: self.columns > 0,
            together: self.together,
        }
    }

    /// Vectors of as many numbers as columns, and one more.
    #[inline(always)]
    fn row(&self, width: usize) -> usize {
        self.n / width + 1
    }

    /// Vectors that [`run`](Triplets::run) works in.
    #[inline(always)]
    pub(super) fn scratch(&self, width: usize) -> usize {
        let (n, stride) = (self.n, self.stride);
        let inner = self.bdsdc().scratch(width);
        let rest = if self.columns > 0 {
            let matrices = (self.columns + n) * stride;
            matrices + inner.max(room_for_reflections(stride, width))
        } else {
            inner
        };
        4 * self.row(width) + rest.max(work_to_reduce(stride, width))
    }

    /// The singular values become `s`, descending, once they are scaled back. Returns the left singular vectors, `order`
    /// being their numbers as the values descend. The right ones become the columns of `short`, or its `rows`.
    #[inline(always)]
    pub(super) fn run<'s, V: Lanes>(
        &self,
        matrix: &mut [V],
        scale: &Scale<V>,
        (s, short, rows): (&mut [V::Float], &mut [V::Float], bool),
        order: &mut [u16],
        scratch: &'s mut [V],
    ) -> Result<&'s mut [V], Failure> {
        let (n, stride) = (self.n, self.stride);
        let row = self.row(V::WIDTH);
        let (numbers, scratch) = scratch.split_at_mut(4 * row);
        numbers.fill(matrix[0].like(0.0));
        let mut numbers = numbers.chunks_exact_mut(row);
        let [d, e, left, right] = std::array::from_fn(|_| numbers.next().unwrap_or_default());
        // The first right reflection begins in the second row, so that there is none of the first one.
        let (left, right) = (&mut V::flat_mut(left)[..n], &mut V::flat_mut(right)[..=n]);
        let results = Reduced {
            d: &mut V::flat_mut(d)[..n],
            e: &mut V::flat_mut(e)[..n],
            left: &mut *left,
            right: &mut right[1..],
            reflections: if self.columns > 0 {
                &mut *short
            } else {
                &mut []
            },
        };
        bidiagonal((self.m, n, stride), matrix, results, scratch, self.together);
        let square = if self.columns > 0 { n * stride } else { 0 };
        let (u, scratch) = scratch.split_at_mut(self.columns * stride);
        let (w, scratch) = scratch.split_at_mut(square);
        let vectors = [&mut u[..square], &mut *w];
        let found = self.bdsdc().run([&mut *d, e], vectors, order, scratch);
        descending(scale, d, order, s);
        if !found {
            return Err(Failure::NotConverged);
        }
        if self.columns == 0 {
            return Ok(u);
        }
        unit(u, stride, n, 1);
        let of_right = (&*short, n, n, 1, &right[..n]);
        let of_left = (V::flat(matrix), stride * V::WIDTH, self.m, 0, &*left);
        for (q, (from, step, rows, before, tau)) in [(&mut *w, of_right), (&mut *u, of_left)] {
            let reflections = Reflections {
                from,
                step,
                rows,
                before,
                pairs: false,
                tau,
            };
            reflections.act((q, stride), scratch, self.together);
        }
        write::<V, 1>((w, stride), n, order, short, rows);
        Ok(u)
    }
}
