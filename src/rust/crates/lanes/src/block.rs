//! Matrices from one after the other to side by side in lanes, and back.

use super::lanes::Lanes;

/// Element `e` of each of the matrices, of which there are not more than lanes, becomes `to[e]`.
/// Lanes without a matrix get the first one's.
#[inline(always)]
pub(crate) fn gather<V: Lanes>(matrices: &[V::Float], to: &mut [V]) {
    if matrices.len() < V::WIDTH * to.len() {
        gather_strided(matrices, to.len(), (0, 1, 1), to);
    } else if V::WIDTH == 1 {
        V::flat_mut(to).copy_from_slice(matrices);
    } else {
        V::gather(matrices, to);
    }
}

/// As [`gather`], where every lane has a matrix: what [`Lanes::gather`] does.
#[inline(always)]
pub(crate) fn gather_full<V: Lanes>(matrices: &[V::Float], to: &mut [V]) {
    let len = to.len();
    let mut squares = to.chunks_exact_mut(V::WIDTH);
    let mut at = 0;
    for square in &mut squares {
        for (lane, row) in square.iter_mut().enumerate() {
            let from = &matrices[lane * len + at..][..V::WIDTH];
            row.as_mut_slice().copy_from_slice(from);
        }
        V::transpose(square);
        at += V::WIDTH;
    }
    for (to, e) in squares.into_remainder().iter_mut().zip(at..) {
        for (lane, to) in to.as_mut_slice().iter_mut().enumerate() {
            *to = matrices[lane * len + e];
        }
    }
}

/// As [`gather`], of matrices of `len` elements, of which `parts` that follow one another belong together: `to` is
/// those from `start + e * step` on of each.
#[inline(always)]
pub(crate) fn gather_strided<V: Lanes>(
    matrices: &[V::Float],
    len: usize,
    from: (usize, usize, usize),
    to: &mut [V],
) {
    strided(matrices, len, from, V::flat_mut(to), V::WIDTH);
}

/// [`gather_strided`], once for all kinds of lanes; `to` is of that `width`.
#[inline(never)]
fn strided<T: Copy>(
    matrices: &[T],
    len: usize,
    (start, step, parts): (usize, usize, usize),
    to: &mut [T],
    width: usize,
) {
    for (e, to) in to.chunks_exact_mut(parts * width).enumerate() {
        for (to, at) in to.chunks_exact_mut(width).zip(start + e * step..) {
            to.fill(matrices[at]);
            for (to, matrix) in to.iter_mut().zip(matrices.chunks_exact(len)) {
                *to = matrix[at];
            }
        }
    }
}

/// The way back of [`gather`]; what `from` holds then means nothing.
#[inline(always)]
pub(crate) fn scatter<V: Lanes>(from: &mut [V], matrices: &mut [V::Float]) {
    if matrices.len() < V::WIDTH * from.len() {
        scatter_some(V::flat(from), from.len(), matrices, V::WIDTH);
    } else if V::WIDTH == 1 {
        matrices.copy_from_slice(V::flat(from));
    } else {
        V::scatter(from, matrices);
    }
}

/// As [`scatter`], where not every lane has a matrix; `from` has `len` elements of that `width`.
#[inline(never)]
fn scatter_some<T: Copy>(from: &[T], len: usize, matrices: &mut [T], width: usize) {
    for (e, from) in from.chunks_exact(width).enumerate() {
        for (from, matrix) in from.iter().zip(matrices.chunks_exact_mut(len)) {
            matrix[e] = *from;
        }
    }
}

/// As [`scatter`], where every lane has a matrix: what [`Lanes::scatter`] does.
#[inline(always)]
pub(crate) fn scatter_full<V: Lanes>(from: &mut [V], matrices: &mut [V::Float]) {
    let len = from.len();
    let mut squares = from.chunks_exact_mut(V::WIDTH);
    let mut at = 0;
    for square in &mut squares {
        V::transpose(square);
        for (lane, row) in square.iter().enumerate() {
            let to = &mut matrices[lane * len + at..][..V::WIDTH];
            to.copy_from_slice(row.as_slice());
        }
        at += V::WIDTH;
    }
    for (from, e) in squares.into_remainder().iter().zip(at..) {
        for (lane, from) in from.as_slice().iter().enumerate() {
            matrices[lane * len + e] = *from;
        }
    }
}

/// 0 in the lanes of which all values, of which there is one, are finite, NaN in the others.
#[inline(always)]
pub(crate) fn finite<V: Lanes>(values: &[V]) -> V {
    let zero = values[0].like(0.0);
    // Several sums, which do not wait for one another.
    let mut sums = [zero; 4];
    let mut fours = values.chunks_exact(4);
    for four in &mut fours {
        for (sum, value) in sums.iter_mut().zip(four) {
            *sum = value.mul_add(zero, *sum);
        }
    }
    for (sum, value) in sums.iter_mut().zip(fours.remainder()) {
        *sum = value.mul_add(zero, *sum);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Transposes each matrix of `n` × `n` in place.
#[inline(always)]
pub(crate) fn transpose<V>(matrix: &mut [V], n: usize) {
    for j in 0..n {
        let (columns, rest) = matrix.split_at_mut((j + 1) * n);
        let column = &mut columns[j * n + j + 1..];
        for (x, other) in column.iter_mut().zip(rest.chunks_exact_mut(n)) {
            std::mem::swap(x, &mut other[j]);
        }
    }
}
