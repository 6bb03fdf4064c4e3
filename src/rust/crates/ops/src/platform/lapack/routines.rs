//! The routines as safe functions: slices in, the length contract checked before the call.

use super::sys::{self, Int};

/// The scalars that the linked LAPACK has routines for.
pub trait Routines: Copy {
    /// `P A = L U` in place; `a` is column-major `m` × `n` without gaps, `pivots` has `min(m, n)`
    /// places. Neither `m` nor `n` may be 0. Returns LAPACK's `info`, which is positive where `U`
    /// has a zero on its diagonal.
    fn getrf(m: Int, n: Int, a: &mut [Self], pivots: &mut [Int]) -> Int;
}

macro_rules! routines {
    ($scalar:ty, $getrf:ident) => {
        impl Routines for $scalar {
            fn getrf(m: Int, n: Int, a: &mut [Self], pivots: &mut [Int]) -> Int {
                assert!(m > 0 && n > 0, "getrf needs a matrix, got {m} x {n}");
                assert_eq!(Some(a.len()), (m as usize).checked_mul(n as usize));
                assert_eq!(pivots.len(), m.min(n) as usize);
                let mut info = 0;
                // SAFETY: `a` holds the `m * n` values and `pivots` the `min(m, n)` places that
                // the routine writes, the leading dimension is `m`, and all sizes are positive,
                // so no argument is one that LAPACK would call its error handler for.
                unsafe {
                    sys::$getrf(&m, &n, a.as_mut_ptr(), &m, pivots.as_mut_ptr(), &mut info);
                }
                info
            }
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
routines!(f32, sgetrf_);
routines!(f64, dgetrf_);
