//! Eigenvalues and eigenvectors of one symmetric tridiagonal matrix by divide and conquer (Cuppen, Numer. Math. 36,
//! 1981): small matrices by the QR algorithm, one to a lane; then [merges](super::merge), two and two.

use super::divide::{sort, widest, Cut, Parts, MOST_LEAF};
use super::merge::Merge;
use super::secular::room_for_roots;
use crate::lanes::{Float, Lanes};
use crate::operands::{Room, Stedc};
use crate::symmetric::diagonal;
use crate::together::Together;

/// Vectors of [`Room`] for `n` columns of `stride` vectors, apart from whole matrices and what products work in.
pub(crate) fn vectors(n: usize, stride: usize, width: usize) -> usize {
    6 * stride + room_for_roots(n, width)
}

/// Vectors that a whole matrix of [`Room`] has at least: leaves are computed in it.
pub(crate) const LEAST: usize = MOST_LEAF * (MOST_LEAF + 2);

/// The eigenvalues become `d`, in the order of the columns of `q` that are their eigenvectors; `order` are the numbers
/// of these columns as the eigenvalues ascend. False where something did not converge.
#[inline(always)]
fn conquer<V: Lanes>(
    (d, e): (&mut [V::Float], &[V::Float]),
    q: &mut [V],
    order: &mut [u16],
    room: &mut Room<'_, V>,
    together: Together<'_>,
) -> bool {
    let cut = Cut::of(d.len());
    cut.tear(d, e);
    q.fill(q[0].like(0.0));
    cut.conquer::<V>(&mut Vectors {
        d,
        e,
        q,
        order,
        room,
        together,
    })
}

/// [`conquer`], of which `found` becomes what is returned.
#[inline(always)]
pub(crate) fn stedc<V: Lanes>(
    q: &mut [V],
    problem: &mut Stedc<'_, V::Float>,
    room: &mut Room<'_, V>,
    found: &mut bool,
) {
    let (d, e) = (&mut *problem.d, problem.e);
    *found = conquer((d, e), q, problem.order, room, problem.together);
}

/// A matrix whose eigenvectors are wanted: what [`conquer`] is given.
struct Vectors<'a, 'r, V: Lanes> {
    d: &'a mut [V::Float],
    e: &'a [V::Float],
    q: &'a mut [V],
    order: &'a mut [u16],
    room: &'a mut Room<'r, V>,
    together: Together<'a>,
}

impl<V: Lanes> Parts for Vectors<'_, '_, V> {
    #[inline(always)]
    fn leaves(&mut self, starts: &[usize]) -> bool {
        let problem = (&mut *self.d, self.e);
        leaves(starts, problem, (self.q, self.order), self.room)
    }

    #[inline(always)]
    fn merge(&mut self, (start, cut, end): (usize, usize, usize)) -> bool {
        let merge = Merge {
            start,
            cut,
            end,
            together: self.together,
        };
        merge.run((self.d, self.e), self.q, self.order, self.room)
    }
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
