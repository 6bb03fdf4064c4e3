//! QR factorisation with column pivoting.

use super::lengths::{expect_matrix, length, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};

/// The workspace of [`geqp3`] on `n` columns.
pub fn geqp3_sizes(n: Int) -> Option<Sizes> {
    let n = i128::from(n);
    Sizes::new(2 * n + (n + 1) * BLOCK, 2 * n, 0)
}

/// `A P = Q R` in place, as [`geqrf`](super::geqrf); column `j` of `A P` is column `jpvt[j]` of `A`,
/// counted from 1. Columns whose `jpvt` is not 0 at first come before the others.
pub fn geqp3<T: Routines>(
    (m, n): (Int, Int),
    a: &mut [T],
    jpvt: &mut [Int],
    tau: &mut [T],
    ws: &mut Workspace<T>,
) -> Int {
    expect_matrix("geqp3", (m, n), a);
    assert_eq!(jpvt.len(), n as usize);
    assert_eq!(tau.len(), m.min(n) as usize);
    assert!(geqp3_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
    let (a, jpvt, tau) = (a.as_mut_ptr(), jpvt.as_mut_ptr(), tau.as_mut_ptr());
    let (lwork, work, real) = (length(&ws.work), ws.work.as_mut_ptr(), ws.real.as_mut_ptr());
    // SAFETY: matrix, pivots and factors have the lengths that the routine asks for, the workspaces
    // are longer than its minima, and no size is 0.
    unsafe { T::geqp3(m, n, a, m, jpvt, tau, work, lwork, real) }
}
