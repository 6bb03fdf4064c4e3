//! Cholesky factorisation and systems of equations.

use super::{elements, letter, Worked};
use crate::sys::{self, Int};
use matrices::{Form, Triangle};

/// Cholesky factorisation and systems of equations.
pub trait Solve: Worked {
    /// The Cholesky factor in place of the triangle of an `n` × `n` matrix, `n` not 0. Returns
    /// LAPACK's `info`, positive where the matrix is not positive definite.
    fn potrf(triangle: Triangle, n: Int, a: &mut [Self]) -> Int;

    /// The unknowns in place of `y` (`m` × `n`, neither of them 0).
    fn trsm(form: Form, shape: (Int, Int), x: &[Self], y: &mut [Self]);
}

macro_rules! solve {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Solve for $scalar {
            fn potrf(triangle: Triangle, n: Int, a: &mut [Self]) -> Int {
                assert!(n > 0, "potrf needs a matrix");
                assert_eq!(a.len(), elements(n, n));
                let mut info = 0;
                // SAFETY: `a` is `n` × `n` without gaps, and `n` is positive.
                unsafe {
                    let uplo = triangle as u8;
                    sys::$sys::potrf(letter(&uplo), &n, a.as_mut_ptr(), &n, &mut info, 1);
                }
                info
            }

            fn trsm(form: Form, (m, n): (Int, Int), x: &[Self], y: &mut [Self]) {
                assert!(
                    m > 0 && n > 0,
                    "trsm needs a right-hand side, got {m} x {n}"
                );
                let order = if form.left { m } else { n };
                assert_eq!(x.len(), elements(order, order));
                assert_eq!(y.len(), elements(m, n));
                let side = if form.left { b'L' } else { b'R' };
                let diag = if form.unit { b'U' } else { b'N' };
                let one: Self = matrices::Element::ONE;
                // SAFETY: `y` is `m` × `n` and `x` square of the order that the side asks for,
                // both without gaps; no size is 0.
                unsafe {
                    sys::$sys::trsm(
                        letter(&side),
                        letter(&(form.triangle as u8)),
                        letter(&(form.transpose as u8)),
                        letter(&diag),
                        &m,
                        &n,
                        &one,
                        x.as_ptr(),
                        &order,
                        y.as_mut_ptr(),
                        &m,
                        1,
                        1,
                        1,
                        1,
                    );
                }
            }
        }
    };
}
for_each_scalar!(solve);
