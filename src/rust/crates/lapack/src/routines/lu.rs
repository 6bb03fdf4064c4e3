//! LU factorisation.

use super::lengths::expect_matrix;
use crate::int::Int;
use crate::sys::Routines;

/// `P A = L U` in place; `a` is column-major `m` × `n` without gaps, `pivots` has `min(m, n)` places.
/// `info` is positive where `U` has a zero on its diagonal.
pub fn getrf<T: Routines>((m, n): (Int, Int), a: &mut [T], pivots: &mut [Int]) -> Int {
    expect_matrix("getrf", (m, n), a);
    assert_eq!(pivots.len(), m.min(n) as usize);
    // SAFETY: `a` holds the `m * n` values and `pivots` the `min(m, n)` places that the routine
    // writes, the leading dimension is `m`, and all sizes are positive, so no argument is one that
    // LAPACK would call its error handler for.
    unsafe { T::getrf(m, n, a.as_mut_ptr(), m, pivots.as_mut_ptr()) }
}
