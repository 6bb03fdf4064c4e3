//! QR factorisation.

use super::lengths::{elements, expect_matrix, length, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};

/// The workspace of [`geqrf`] and [`orgqr`] on `n` columns.
pub fn qr_sizes(n: Int) -> Option<Sizes> {
    Sizes::new(i128::from(n) * BLOCK, 0, 0)
}

/// `A = Q R` in place: `R` on and above the diagonal, below it with `tau` (`min(m, n)`) the
/// reflectors that make `Q`.
pub fn geqrf<T: Routines>(
    (m, n): (Int, Int),
    a: &mut [T],
    tau: &mut [T],
    ws: &mut Workspace<T>,
) -> Int {
    expect_matrix("geqrf", (m, n), a);
    assert_eq!(tau.len(), m.min(n) as usize);
    assert!(ws.work.len() >= n as usize);
    let (a, tau, work) = (a.as_mut_ptr(), tau.as_mut_ptr(), &mut ws.work);
    // SAFETY: `a` holds `m * n` values with leading dimension `m`, `tau` `min(m, n)`, and the
    // workspace at least `n`: no argument is one that LAPACK refuses.
    unsafe { T::geqrf(m, n, a, m, tau, work.as_mut_ptr(), length(work)) }
}

/// The first `n` columns of the `Q` that the reflectors in the first `tau.len()` columns of `a` make,
/// in place; `tau.len() <= n <= m`.
pub fn orgqr<T: Routines>(
    (m, n): (Int, Int),
    a: &mut [T],
    tau: &[T],
    ws: &mut Workspace<T>,
) -> Int {
    assert!(n > 0 && n <= m && tau.len() <= n as usize);
    assert_eq!(a.len(), elements(m, n));
    assert!(ws.work.len() >= n as usize);
    let (k, a, tau, work) = (length(tau), a.as_mut_ptr(), tau.as_ptr(), &mut ws.work);
    // SAFETY: `a` holds `m * n` values with leading dimension `m`, `tau` has `k`, the workspace at
    // least `n`, and `0 <= k <= n <= m`: LAPACK refuses nothing.
    unsafe { T::orgqr(m, n, k, a, m, tau, work.as_mut_ptr(), length(work)) }
}
