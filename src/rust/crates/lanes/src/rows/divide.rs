//! Divide and conquer: a condensed matrix is cut into small ones, of which as many as there are lanes are decomposed at
//! once; then two and two become one.

use crate::lanes::{Float, Lanes};

/// Rows of a small matrix, half as many more or less in the last one: whole lines, of every width.
const LEAF: usize = 16;
pub(super) const MOST_LEAF: usize = LEAF + LEAF / 2;

/// Lanes of the widest vectors.
const MOST_LANES: usize = 16;

/// A matrix that is decomposed in parts. False where something did not converge.
pub(super) trait Parts {
    /// The small matrices between the `starts`, of which there are not more than lanes.
    fn leaves(&mut self, starts: &[usize]) -> bool;
    /// Two parts become one: where they start, are cut, and end.
    fn merge(&mut self, rows: (usize, usize, usize)) -> bool;
}

/// How a matrix of `n` columns is cut.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    n: usize,
    leaves: usize,
}

impl Cut {
    #[inline(always)]
    pub(super) fn of(n: usize) -> Self {
        let leaves = ((n + LEAF / 2) / LEAF).max(1);
        Cut { n, leaves }
    }

    /// The first row of a small matrix.
    #[inline(always)]
    fn start(self, leaf: usize) -> usize {
        if leaf == self.leaves {
            self.n
        } else {
            leaf * LEAF
        }
    }

    /// Takes from the diagonal of a symmetric tridiagonal matrix what is a matrix of rank one at each cut.
    #[inline(always)]
    pub(super) fn tear<T: Float>(self, d: &mut [T], e: &[T]) {
        for leaf in 1..self.leaves {
            let cut = self.start(leaf);
            let beside = e[cut - 1].f64().abs();
            for d in &mut d[cut - 1..=cut] {
                *d = T::of(d.f64() - beside);
            }
        }
    }

    /// Decomposes the matrix, with vectors of so many lanes.
    #[inline(always)]
    pub(super) fn conquer<V: Lanes>(self, matrix: &mut impl Parts) -> bool {
        let mut converged = true;
        for first in (0..self.leaves).step_by(V::WIDTH) {
            let mut starts = [0; MOST_LANES + 1];
            let count = V::WIDTH.min(self.leaves - first);
            for (at, to) in starts[..=count].iter_mut().enumerate() {
                *to = self.start(first + at);
            }
            converged &= matrix.leaves(&starts[..=count]);
        }
        let mut parts = self.leaves.next_power_of_two() / 2;
        while parts > 0 {
            for at in 0..parts {
                let start = |at: usize| self.start(at * self.leaves / (2 * parts));
                let rows = (start(2 * at), start(2 * at + 1), start(2 * at + 2));
                // Of a part with a single small matrix there is one half.
                if rows.0 < rows.1 && rows.1 < rows.2 {
                    converged &= matrix.merge(rows);
                }
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
