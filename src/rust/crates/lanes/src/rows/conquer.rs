//! Eigenvalues and eigenvectors of one symmetric tridiagonal matrix by divide and conquer (Cuppen, Numer. Math. 36,
//! 1981): small matrices by the QR algorithm, one to a lane; then [merges](super::merge), two and two.

use super::merge::{Merge, Room};
use super::secular::room_for_roots;
use crate::lanes::{Float, Lanes};
use crate::symmetric::diagonal;
use crate::together::Together;

/// Columns up to which matrices are computed alone, half a block of rows more or less.
const LEAF: usize = 32;
/// What is cut begins with a whole line, of every width.
const WHOLE: usize = 16;
const MOST_LEAF: usize = LEAF + WHOLE / 2;

/// Vectors of [`Room`] for `n` columns of `stride` vectors, apart from whole matrices and what products work in.
pub(crate) fn vectors(n: usize, stride: usize, width: usize) -> usize {
    6 * stride + room_for_roots(n, width)
}

/// Vectors that a whole matrix of [`Room`] has at least: leaves are computed in it.
pub(crate) const LEAST: usize = MOST_LEAF * (MOST_LEAF + 2);

/// How a matrix of `n` columns is cut: into a power of 2 of parts.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    n: usize,
    pub(super) parts: usize,
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
    pub(super) fn start(self, at: usize, parts: usize) -> usize {
        if at == parts {
            self.n
        } else {
            (at * self.n / parts + WHOLE / 2) / WHOLE * WHOLE
        }
    }

    /// Takes from the diagonal what is a matrix of rank one at each cut.
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
    pub(super) fn starts(self, first: usize, lanes: usize) -> ([usize; WHOLE + 1], usize) {
        let mut starts = [0; WHOLE + 1];
        let count = lanes.min(self.parts - first);
        for (at, to) in starts[..=count].iter_mut().enumerate() {
            *to = self.start(first + at, self.parts);
        }
        (starts, count + 1)
    }

    /// The rows of the merge of two parts that gives part `at` of so many: where they start, are cut, and end.
    #[inline(always)]
    pub(super) fn merge(self, at: usize, parts: usize) -> (usize, usize, usize) {
        (
            self.start(at, parts),
            self.start(2 * at + 1, 2 * parts),
            self.start(at + 1, parts),
        )
    }
}

/// The eigenvalues become `d`, in the order of the columns of `q` that are their eigenvectors; `order` are the numbers
/// of these columns as the eigenvalues ascend. False where something did not converge.
#[inline(always)]
pub(crate) fn conquer<V: Lanes>(
    (d, e): (&mut [V::Float], &[V::Float]),
    q: &mut [V],
    order: &mut [u16],
    room: &mut Room<'_, V>,
    together: Together<'_>,
) -> bool {
    let cut = Cut::of(d.len());
    cut.tear(d, e);
    q.fill(q[0].like(0.0));
    let mut converged = true;
    for first in (0..cut.parts).step_by(V::WIDTH) {
        let (starts, count) = cut.starts(first, V::WIDTH);
        converged &= leaves(&starts[..count], (d, e), (q, order), room);
    }
    let mut parts = cut.parts / 2;
    while parts > 0 {
        for at in 0..parts {
            let (start, cut, end) = cut.merge(at, parts);
            let merge = Merge {
                start,
                cut,
                end,
                together,
            };
            converged &= merge.run((d, e), q, order, room);
        }
        parts /= 2;
    }
    converged
}

/// The eigenvectors of the matrices between the `starts`, of which there are not more than lanes.
#[inline(always)]
fn leaves<V: Lanes>(
    starts: &[usize],
    (d, e): (&mut [V::Float], &[V::Float]),
    (q, order): (&mut [V], &mut [u16]),
    room: &mut Room<'_, V>,
) -> bool {
    let stride = room.stride;
    let zero = q[0].like(0.0);
    let n = widest(starts);
    let (block, rest) = room.packed.split_at_mut(n * n);
    block.fill(zero);
    for (j, column) in block.chunks_exact_mut(n).enumerate() {
        column[j] = zero.like(1.0);
    }
    let converged = solve(starts, (d, e), order, block, rest);
    for (lane, pair) in starts.windows(2).enumerate() {
        let (start, end) = (pair[0], pair[1]);
        for j in 0..end - start {
            let column = V::flat_mut(&mut q[(start + j) * stride..][..stride]);
            let from = &block[j * n..][..end - start];
            for (to, from) in column[start..end].iter_mut().zip(from) {
                *to = from.as_slice()[lane];
            }
        }
    }
    converged
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

/// The eigenvalues of the matrices between the `starts`, one in each lane, and where they stand as they ascend; `block`
/// is multiplied by the eigenvectors.
#[inline(always)]
pub(super) fn solve<V: Lanes>(
    starts: &[usize],
    (d, e): (&mut [V::Float], &[V::Float]),
    order: &mut [u16],
    block: &mut [V],
    rest: &mut [V],
) -> bool {
    let n = widest(starts);
    let zero = block[0].like(0.0);
    let (d_lanes, rest) = rest.split_at_mut(n);
    let e_lanes = &mut rest[..n];
    d_lanes.fill(zero);
    e_lanes.fill(zero);
    for (lane, pair) in starts.windows(2).enumerate() {
        let (start, end) = (pair[0], pair[1]);
        for (to, from) in d_lanes.iter_mut().zip(&d[start..end]) {
            to.as_mut_slice()[lane] = *from;
        }
        // What is beside the last one belongs to the next matrix.
        for (to, from) in e_lanes.iter_mut().zip(&e[start..end - 1]) {
            to.as_mut_slice()[lane] = *from;
        }
    }
    let failed = diagonal(d_lanes, e_lanes, Some(block));
    let mut converged = true;
    for (lane, pair) in starts.windows(2).enumerate() {
        let (start, end) = (pair[0], pair[1]);
        converged &= failed.as_slice()[lane] == V::Float::of(0.0);
        for (to, from) in d[start..end].iter_mut().zip(&*d_lanes) {
            *to = from.as_slice()[lane];
        }
        sort(&d[start..end], &mut order[start..end]);
    }
    converged
}

/// The numbers of the values as they ascend.
#[inline(always)]
fn sort<T: Float>(values: &[T], order: &mut [u16]) {
    for i in 0..values.len() {
        let mut at = i;
        while at > 0 && values[usize::from(order[at - 1])] > values[i] {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = i as u16;
    }
}
