//! What is asked of and done to the elements of matrices.

use crate::{Element, Triangle};

/// Whether all are finite; without an early way out, so that it vectorises: the usual matrix is finite to its end.
#[inline(never)] // once for each dtype
#[must_use]
pub fn all_finite<T: Element>(values: &[T]) -> bool {
    values.iter().fold(true, |all, v| all & v.is_finite())
}

/// Takes elements below [`Element::TINY`] for zeros where the largest is ordinary, so that this is far
/// below its rounding. LAPACK's eigenvalue routines divide by such elements, and where they are
/// subnormal too few of their digits are left: vectors come out neither orthogonal nor of length 1.
pub fn drop_tiny<T: Element>(values: &mut [T]) {
    let sizes = values.iter().map(|value| value.magnitude());
    if sizes.fold(0.0, f64::max) < T::TINY.sqrt() {
        return;
    }
    for value in values {
        if value.magnitude() < T::TINY {
            *value = T::ZERO;
        }
    }
}

/// Whether the triangle of a column-major matrix of `n` rows is finite.
#[must_use]
pub fn triangle_finite<T: Element>(matrix: &[T], n: usize, triangle: Triangle) -> bool {
    let columns = matrix.chunks_exact(n.max(1)).enumerate();
    columns.fold(true, |all, (j, column)| {
        let part = match triangle {
            Triangle::Lower => &column[j..],
            Triangle::Upper => &column[..=j],
        };
        all & all_finite(part)
    })
}

/// Each column-major matrix of `rows` rows becomes the identity, cut or continued with zeros.
pub fn fill_identity<T: Element>(matrices: &mut [T], rows: usize, cols: usize) {
    matrices.fill(T::ZERO);
    for matrix in matrices.chunks_exact_mut((rows * cols).max(1)) {
        matrix
            .iter_mut()
            .step_by(rows + 1)
            .take(rows.min(cols))
            .for_each(|diagonal| *diagonal = T::ONE);
    }
}
