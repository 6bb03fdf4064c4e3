//! Cholesky factorisation and systems of equations.

use super::lengths::{elements, length};
use crate::int::Int;
use crate::sys::Routines;
use matrices::{Form, Transpose, Triangle};

/// The Cholesky factor in place of the triangle of an `n` × `n` matrix. `info` is positive where the
/// matrix is not positive definite.
pub fn potrf<T: Routines>(triangle: Triangle, n: Int, a: &mut [T]) -> Int {
    assert!(n > 0, "potrf needs a matrix");
    assert_eq!(a.len(), elements(n, n));
    // SAFETY: `a` is `n` × `n` without gaps, and `n` is positive.
    unsafe { T::potrf(triangle as u8, n, a.as_mut_ptr(), n) }
}

/// The unknowns in place of `y` (`m` × `n`). `info` is 0 if the routine was called.
pub fn trsm<T: Routines>(form: Form, (m, n): (Int, Int), x: &[T], y: &mut [T]) -> Int {
    assert!(
        m > 0 && n > 0,
        "trsm needs a right-hand side, got {m} x {n}"
    );
    let order = if form.left { m } else { n };
    assert_eq!(x.len(), elements(order, order));
    assert_eq!(y.len(), elements(m, n));
    let side = if form.left { b'L' } else { b'R' };
    let diag = if form.unit { b'U' } else { b'N' };
    // Of complex matrices the BLAS that R 4.2.2 brings computes this form wrongly; that of the
    // conjugate system it computes well.
    let upper = matches!(form.triangle, Triangle::Upper);
    let turned = T::COMPLEX && !form.left && upper && matches!(form.transpose, Transpose::Plain);
    let trans = if turned {
        conjugate(y);
        Transpose::Conjugate
    } else {
        form.transpose
    };
    let (uplo, trans, x, at) = (form.triangle as u8, trans as u8, x.as_ptr(), y.as_mut_ptr());
    // SAFETY: `y` is `m` × `n` and `x` square of the order that the side asks for, both without gaps;
    // no size is 0.
    let info = unsafe { T::trsm(side, uplo, trans, diag, m, n, &T::ONE, x, order, at, m) };
    if turned {
        conjugate(y);
    }
    info
}

fn conjugate<T: Routines>(y: &mut [T]) {
    for value in y {
        *value = value.conjugate();
    }
}

/// Solves a tridiagonal system in place of `b`; the factors in place of the diagonals. `info` is
/// positive where the matrix is singular.
pub fn gtsv<T: Routines>(dl: &mut [T], d: &mut [T], du: &mut [T], b: &mut [T]) -> Int {
    assert!(!d.is_empty() && b.len() % d.len() == 0);
    assert!(dl.len() == d.len() - 1 && du.len() == d.len() - 1);
    let columns = Int::try_from(b.len() / d.len()).unwrap_or(Int::MAX);
    let n = length(d);
    assert_eq!(b.len(), elements(n, columns));
    let (dl, d, du) = (dl.as_mut_ptr(), d.as_mut_ptr(), du.as_mut_ptr());
    // SAFETY: the diagonals have `n` and `n - 1` places, `b` is `n` × `columns` without gaps, and
    // `n` is positive.
    unsafe { T::gtsv(n, columns, dl, d, du, b.as_mut_ptr(), n) }
}
