//! Singular values, and vectors where these are wanted, of one upper bidiagonal matrix by divide and conquer, as LAPACK's
//! `bdsdc`.

use super::conquer;
use super::near::lift;
use super::product::packed;
use super::singular::{self, Singular};
use super::singular_values::Values;
use super::values;
use crate::lanes::{Apart, Lanes};
use crate::operands::Room;
use crate::together::Together;

/// A matrix of `n` columns, whose vectors are `stride` vectors from one column to the next.
pub(super) struct Bdsdc<'a> {
    pub(super) n: usize,
    pub(super) stride: usize,
    pub(super) vectors: bool,
    pub(super) together: Together<'a>,
}

impl Bdsdc<'_> {
    /// Vectors of a matrix in which leaves are computed, too.
    #[inline(always)]
    fn whole(&self) -> usize {
        (self.n * self.stride).max(singular::LEAST)
    }

    /// Vectors that [`run`](Bdsdc::run) works in.
    #[inline(always)]
    pub(super) fn scratch(&self, width: usize) -> usize {
        let (n, stride) = (self.n, self.stride);
        if self.vectors {
            2 * self.whole() + conquer::vectors(n, stride, width) + packed(stride, n, width)
        } else {
            n + values::vectors(n, stride, width).max(singular::LEAST)
        }
    }

    /// The singular values of the diagonal `d` and of what is right of it become `d`, `order` their numbers as they
    /// ascend, and `u` and `w` the singular vectors where these are wanted. False where something did not converge.
    #[inline(always)]
    pub(super) fn run<V: Lanes>(
        &self,
        numbers: [&mut [V]; 2],
        vectors: [&mut [V]; 2],
        order: &mut [u16],
        scratch: &mut [V],
    ) -> bool {
        let mut converged = false;
        let any = scratch[0];
        let problem = Problem {
            of: self,
            numbers,
            vectors,
            order,
            scratch,
            converged: &mut converged,
        };
        V::apart(problem, any);
        converged
    }
}

/// A matrix, and where its results go.
struct Problem<'a, V> {
    of: &'a Bdsdc<'a>,
    numbers: [&'a mut [V]; 2],
    vectors: [&'a mut [V]; 2],
    order: &'a mut [u16],
    scratch: &'a mut [V],
    converged: &'a mut bool,
}

impl<V: Lanes> Apart for Problem<'_, V> {
    #[inline(always)]
    fn run(self) {
        let Problem {
            of,
            numbers: [d, e],
            vectors: [u, w],
            order,
            scratch,
            converged,
        } = self;
        let (n, stride) = (of.n, of.stride);
        let lifted = lift([&mut *d, &mut *e]);
        let (values, e) = (&mut V::flat_mut(d)[..n], &V::flat(e)[..n]);
        let found = if of.vectors {
            let whole = of.whole();
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
                d: values,
                e,
                u,
                w,
                order,
                room: &mut room,
                together: of.together,
            };
            problem.run()
        } else {
            let (ends, room) = scratch.split_at_mut(n);
            let problem = Values {
                d: values,
                e,
                ends,
                order,
                stride,
                room,
                together: of.together,
            };
            problem.run()
        };
        lifted.back(d);
        *converged = found;
    }
}
