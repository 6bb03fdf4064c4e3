//! Eigenvalues and eigenvectors of one symmetric tridiagonal matrix by divide and conquer (Cuppen, Numer. Math. 36,
//! 1981): small matrices by the QR algorithm, one to a lane; then [merges](super::merge), two and two.

use super::merge::{Merge, Room};
use super::secular::room_for_roots;
use crate::lanes::{Float, Lanes};
use crate::together::Together;
use crate::symmetric::diagonal;

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
    let n = d.len();
    let mut parts = 1;
    while n > LEAF * parts {
        parts *= 2;
    }
    let start = |at: usize, parts: usize| {
        if at == parts {
            n
        } else {
            (at * n / parts + WHOLE / 2) / WHOLE * WHOLE
        }
    };
    for at in 1..parts {
        let cut = start(at, parts);
        let beside = e[cut - 1].f64().abs();
        for d in &mut d[cut - 1..=cut] {
            *d = V::Float::of(d.f64() - beside);
        }
    }
    q.fill(q[0].like(0.0));
    let mut converged = true;
    for first in (0..parts).step_by(V::WIDTH) {
        let mut starts = [0; WHOLE + 1];
        let count = V::WIDTH.min(parts - first);
        for (at, to) in starts[..=count].iter_mut().enumerate() {
            *to = start(first + at, parts);
        }
        converged &= leaves(&starts[..=count], (d, e), q, order, room);
    }
    while parts > 1 {
        parts /= 2;
        for at in 0..parts {
            let merge = Merge {
                start: start(at, parts),
                cut: start(2 * at + 1, 2 * parts),
                end: start(at + 1, parts),
                together,
            };
            converged &= merge.run((d, e), q, order, room);
        }
    }
    converged
}

/// The matrices between the `starts`, of which there are not more than lanes.
#[inline(always)]
fn leaves<V: Lanes>(
    starts: &[usize],
    (d, e): (&mut [V::Float], &[V::Float]),
    q: &mut [V],
    order: &mut [u16],
    room: &mut Room<'_, V>,
) -> bool {
    let stride = room.stride;
    let zero = q[0].like(0.0);
    let mut n = 0;
    for pair in starts.windows(2) {
        n = n.max(pair[1] - pair[0]);
    }
    let (block, rest) = room.packed.split_at_mut(n * n);
    let (d_lanes, rest) = rest.split_at_mut(n);
    let e_lanes = &mut rest[..n];
    block.fill(zero);
    d_lanes.fill(zero);
    e_lanes.fill(zero);
    for (j, column) in block.chunks_exact_mut(n).enumerate() {
        column[j] = zero.like(1.0);
    }
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
        for j in 0..end - start {
            let column = V::flat_mut(&mut q[(start + j) * stride..][..stride]);
            let from = &block[j * n..][..end - start];
            for (to, from) in column[start..end].iter_mut().zip(from) {
                *to = from.as_slice()[lane];
            }
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
