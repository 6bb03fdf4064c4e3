//! Matrices from one after the other to side by side in lanes, and back.

use super::lanes::Lanes;

/// A batch's part: matrices of `len` elements each, one after the other, not more than lanes.
/// Where one stands in a vector it takes: `to[e]` is element `start + e * step` of each. Lanes
/// without a matrix get the first one's.
#[inline(always)]
pub(super) fn gather<V: Lanes>(
    matrices: &[V::Float],
    len: usize,
    (start, step): (usize, usize),
    to: &mut [V],
) {
    if matrices.len() == V::WIDTH * len {
        let mut at = start;
        for to in to {
            assert!(at < len);
            for (lane, to) in to.as_mut_slice().iter_mut().enumerate() {
                *to = matrices[lane * len + at];
            }
            at += step;
        }
        return;
    }
    for (e, to) in to.iter_mut().enumerate() {
        let at = start + e * step;
        *to = V::splat(matrices[at]);
        for (to, matrix) in to.as_mut_slice().iter_mut().zip(matrices.chunks_exact(len)) {
            *to = matrix[at];
        }
    }
}

/// The way back of [`gather`].
#[inline(always)]
pub(super) fn scatter<V: Lanes>(
    from: &[V],
    matrices: &mut [V::Float],
    len: usize,
    (start, step): (usize, usize),
) {
    if matrices.len() == V::WIDTH * len {
        let mut at = start;
        for from in from {
            assert!(at < len);
            for (lane, from) in from.as_slice().iter().enumerate() {
                matrices[lane * len + at] = *from;
            }
            at += step;
        }
        return;
    }
    for (e, from) in from.iter().enumerate() {
        let matrices = matrices.chunks_exact_mut(len);
        for (from, matrix) in from.as_slice().iter().zip(matrices) {
            matrix[start + e * step] = *from;
        }
    }
}

/// 0 in the lanes of which all values are finite, NaN in the others.
#[inline(always)]
pub(super) fn finite<V: Lanes>(values: &[V]) -> V {
    let zero = V::of(0.0);
    let sum = |sum, &value: &V| value.mul_add(zero, sum);
    values.iter().fold(zero, sum)
}
