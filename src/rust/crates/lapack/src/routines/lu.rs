//! LU factorisation.

use super::elements;
use crate::sys::{self, Int};

/// LU factorisation.
pub trait Lu: Sized {
    /// `P A = L U` in place; `a` is column-major `m` × `n` without gaps, `pivots` has `min(m, n)`
    /// places. Neither `m` nor `n` may be 0. Returns LAPACK's `info`, which is positive where `U`
    /// has a zero on its diagonal.
    fn getrf(m: Int, n: Int, a: &mut [Self], pivots: &mut [Int]) -> Int;
}

macro_rules! lu {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Lu for $scalar {
            fn getrf(m: Int, n: Int, a: &mut [Self], pivots: &mut [Int]) -> Int {
                assert!(m > 0 && n > 0, "getrf needs a matrix, got {m} x {n}");
                assert_eq!(a.len(), elements(m, n));
                assert_eq!(pivots.len(), m.min(n) as usize);
                let mut info = 0;
                // SAFETY: `a` holds the `m * n` values and `pivots` the `min(m, n)` places that
                // the routine writes, the leading dimension is `m`, and all sizes are positive,
                // so no argument is one that LAPACK would call its error handler for.
                unsafe {
                    sys::$sys::getrf(&m, &n, a.as_mut_ptr(), &m, pivots.as_mut_ptr(), &mut info);
                }
                info
            }
        }
    };
}
for_each_scalar!(lu);
