//! Singular values and vectors of one matrix by its bidiagonal form: divide and conquer, and back by blocks of
//! reflections, as LAPACK's `gesdd`.

use super::back::{room_for_reflections, Reflections};
use super::bidiagonal::{bidiagonal, work_to_reduce, Reduced};
use super::conquer;
use super::near::{lift, unit, write};
use super::product::packed;
use super::singular::{self, Singular};
use super::singular_values::Values;
use super::values;
use super::Failure;
use crate::lanes::Lanes;
use crate::operands::Room;
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

impl Triplets<'_> {
    /// Vectors that a matrix of right singular vectors has, in which leaves and reflections work, too.
    #[inline(always)]
    fn whole(&self, width: usize) -> usize {
        (self.n * self.stride)
            .max(room_for_reflections(self.stride, width))
            .max(singular::LEAST)
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
        let rest = if self.columns > 0 {
            let matrices = (self.columns + n) * stride + 2 * self.whole(width);
            matrices + conquer::vectors(n, stride, width) + packed(stride, n, width)
        } else {
            n + values::vectors(n, stride, width).max(singular::LEAST)
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
        let lifted = lift([&mut *d, &mut *e]);
        let problem = (&mut V::flat_mut(d)[..n], &V::flat(e)[..n]);
        let (u, found) = if self.columns > 0 {
            let factors = [&*left, &right[..n]];
            self.vectors(problem, (matrix, factors), (short, rows), order, scratch)
        } else {
            let (ends, room) = scratch.split_at_mut(n);
            let values = Values {
                d: problem.0,
                e: problem.1,
                ends,
                order: &mut *order,
                stride,
                room,
                together: self.together,
            };
            (&mut [][..], values.run())
        };
        lifted.back(d);
        scale.back(d);
        order.reverse();
        for (s, &from) in s.iter_mut().zip(&*order) {
            *s = V::flat(d)[usize::from(from)];
        }
        found.then_some(u).ok_or(Failure::NotConverged)
    }

    /// The singular vectors from the bidiagonal form and the reflections, the left ones of which are in `matrix`, the
    /// right ones in `short`.
    #[inline(always)]
    fn vectors<'s, V: Lanes>(
        &self,
        (d, e): (&mut [V::Float], &[V::Float]),
        (matrix, [left, right]): (&[V], [&[V::Float]; 2]),
        (short, rows): (&mut [V::Float], bool),
        order: &mut [u16],
        scratch: &'s mut [V],
    ) -> (&'s mut [V], bool) {
        let (n, stride) = (self.n, self.stride);
        let whole = self.whole(V::WIDTH);
        let (u, scratch) = scratch.split_at_mut(self.columns * stride);
        let (w, scratch) = scratch.split_at_mut(n * stride);
        let (packed, scratch) = scratch.split_at_mut(whole);
        let (vectors, scratch) = scratch.split_at_mut(whole);
        let (rest, work) = scratch.split_at_mut(conquer::vectors(n, stride, V::WIDTH));
        let mut room = Room {
            stride,
            packed,
            vectors,
            rest,
            work,
        };
        let problem = Singular {
            d,
            e,
            u: &mut u[..n * stride],
            w: &mut *w,
            order: &mut *order,
            room: &mut room,
            together: self.together,
        };
        if !problem.run() {
            return (u, false);
        }
        unit(u, stride, n);
        let of_right = (&*short, n, n, 1, right);
        let of_left = (V::flat(matrix), stride * V::WIDTH, self.m, 0, left);
        for (q, (from, step, rows, before, tau)) in [(&mut *w, of_right), (&mut *u, of_left)] {
            let reflections = Reflections {
                from,
                step,
                rows,
                before,
                pairs: false,
                tau,
            };
            reflections.act((q, stride), room.vectors, self.together);
        }
        order.reverse();
        write((w, stride), n, order, short, rows);
        order.reverse();
        (u, true)
    }
}
