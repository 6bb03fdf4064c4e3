//! Divide and conquer: a condensed matrix is cut into small ones, of which as many as there are lanes are decomposed at
//! once; then two and two become one.

use crate::lanes::{Float, Lanes};

/// Columns up to which matrices are computed alone, half a block of rows more or less.
const LEAF: usize = 32;
/// What is cut begins with a whole line, of every width.
pub(super) const WHOLE: usize = 16;
pub(super) const MOST_LEAF: usize = LEAF + WHOLE / 2;

/// A matrix that is decomposed in parts. False where something did not converge.
pub(super) trait Parts {
    /// The small matrices between the `starts`, of which there are not more than lanes.
    fn leaves(&mut self, starts: &[usize]) -> bool;
    /// Two parts become one: where they start, are cut, and end.
    fn merge(&mut self, rows: (usize, usize, usize)) -> bool;
}

/// How a matrix of `n` columns is cut: into a power of 2 of parts.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    n: usize,
    parts: usize,
}

impl Cut {
    #[inline(always)]
    pub(super) fn of(n: usize) -> Self {
        let mut parts = 1;
        while n > LEAF * parts {
            parts *= 2;
        }
        Cut { n, parts }
    }

    /// The first row of one of so many parts, no more than there are.
    #[inline(always)]
    fn start(self, at: usize, parts: usize) -> usize {
        if at == parts {
            self.n
        } else {
            (at * self.n / parts + WHOLE / 2) / WHOLE * WHOLE
        }
    }

    /// Takes from the diagonal of a symmetric tridiagonal matrix what is a matrix of rank one at each cut.
    #[inline(always)]
    pub(super) fn tear<T: Float>(self, d: &mut [T], e: &[T]) {
        for at in 1..self.parts {
            let cut = self.start(at, self.parts);
            let beside = e[cut - 1].f64().abs();
            for d in &mut d[cut - 1..=cut] {
                *d = T::of(d.f64() - beside);
            }
        }
    }

    /// The first rows of the parts from `first` on, as many as lanes or all, and where the last one ends.
    #[inline(always)]
    fn starts(self, first: usize, lanes: usize) -> ([usize; WHOLE + 1], usize) {
        let mut starts = [0; WHOLE + 1];
        let count = lanes.min(self.parts - first);
        for (at, to) in starts[..=count].iter_mut().enumerate() {
            *to = self.start(first + at, self.parts);
        }
        (starts, count + 1)
    }

    /// The rows of the merge of two parts that gives part `at` of so many: where they start, are cut, and end.
    #[inline(always)]
    fn merge(self, at: usize, parts: usize) -> (usize, usize, usize) {
        (
            self.start(at, parts),
            self.start(2 * at + 1, 2 * parts),
            self.start(at + 1, parts),
        )
    }

    /// Decomposes the matrix, with vectors of so many lanes.
    #[inline(always)]
    pub(super) fn conquer<V: Lanes>(self, matrix: &mut impl Parts) -> bool {
        let mut converged = true;
        for first in (0..self.parts).step_by(V::WIDTH) {
            let (starts, count) = self.starts(first, V::WIDTH);
            converged &= matrix.leaves(&starts[..count]);
        }
        let mut parts = self.parts / 2;
        while parts > 0 {
            for at in 0..parts {
                converged &= matrix.merge(self.merge(at, parts));
            }
            parts /= 2;
        }
        converged
    }
}

/// The rows of the largest of the matrices.
#[inline(always)]
pub(super) fn widest(starts: &[usize]) -> usize {
    let mut n = 0;
    for pair in starts.windows(2) {
        n = n.max(pair[1] - pair[0]);
    }
    n
}

/// The numbers of the values as they ascend.
#[inline(always)]
pub(super) fn sort<T: Float>(values: &[T], order: &mut [u16]) {
    for i in 0..values.len() {
        let mut at = i;
        while at > 0 && values[usize::from(order[at - 1])] > values[i] {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = i as u16;
    }
}
