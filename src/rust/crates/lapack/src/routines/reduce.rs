//! Reduction to simpler forms, and products with `Q`.

use super::lengths::{elements, length, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::Triangle;

/// What newer versions keep of a block of reflectors in the workspace.
const FACTOR: i128 = 65 * BLOCK;

/// The workspace of all of them; `n` is the order, or the larger dimension of `C`.
pub fn reduce_sizes(n: Int) -> Option<Sizes> {
    Sizes::new(i128::from(n) * BLOCK + FACTOR, 0, 0)
}

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ` (`adjoint`), in place of `c` (`m` × `n`). `a` has
/// the reflectors of `Q`, one column for each of `tau`, and is restored.
pub fn ormqr<T: Routines>(
    (left, adjoint): (bool, bool),
    (m, n): (Int, Int),
    a: &mut [T],
    tau: &[T],
    c: &mut [T],
    ws: &mut Workspace<T>,
) -> Int {
    let (k, order) = (length(tau), if left { m } else { n });
    assert!(m > 0 && n > 0 && k <= order);
    assert_eq!(a.len(), elements(order, k));
    assert_eq!(c.len(), elements(m, n));
    assert!(reduce_sizes(m.max(n)).is_some_and(|sizes| ws.holds(sizes)));
    let side = if left { b'L' } else { b'R' };
    let trans = match (adjoint, T::COMPLEX) {
        (false, _) => b'N',
        (true, false) => b'T',
        (true, true) => b'C',
    };
    let (a, tau, c) = (a.as_mut_ptr(), tau.as_ptr(), c.as_mut_ptr());
    let (lwork, work) = (length(&ws.work), ws.work.as_mut_ptr());
    // SAFETY: `a` is `order` × `k` and `c` `m` × `n`, without gaps, `tau` has `k` places,
    // `k <= order`, and the workspace is longer than the minimum.
    unsafe { T::ormqr(side, trans, m, n, k, a, order, tau, c, m, work, lwork) }
}

/// `Qᴴ A Q` tridiagonal, `d` its diagonal, `e` the one beside it; the reflectors in `a` and `tau`.
pub fn sytrd<T: Routines>(
    triangle: Triangle,
    a: &mut [T],
    (d, e, tau): (&mut [T::Real], &mut [T::Real], &mut [T]),
    ws: &mut Workspace<T>,
) -> Int {
    let n = length(d);
    assert!(n > 0 && a.len() == elements(n, n));
    assert!(e.len() == d.len() - 1 && tau.len() == d.len() - 1);
    assert!(reduce_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
    let (a, d, e, tau) = (
        a.as_mut_ptr(),
        d.as_mut_ptr(),
        e.as_mut_ptr(),
        tau.as_mut_ptr(),
    );
    let (lwork, work) = (length(&ws.work), ws.work.as_mut_ptr());
    // SAFETY: `a` is `n` × `n` without gaps, the vectors are as long as the routine asks, and the
    // workspace is longer than the minimum.
    unsafe { T::sytrd(triangle as u8, n, a, n, d, e, tau, work, lwork) }
}

/// `Qᴴ A Q` of Hessenberg form; `a`, of order `n`, is that already outside of rows and columns `low` to
/// `high`, counted from 1.
pub fn gehrd<T: Routines>(
    n: Int,
    (low, high): (Int, Int),
    a: &mut [T],
    tau: &mut [T],
    ws: &mut Workspace<T>,
) -> Int {
    assert!(n > 0 && a.len() == elements(n, n) && tau.len() == n as usize - 1);
    assert!(1 <= low && low <= high && high <= n);
    assert!(reduce_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
    let (a, tau) = (a.as_mut_ptr(), tau.as_mut_ptr());
    let (lwork, work) = (length(&ws.work), ws.work.as_mut_ptr());
    // SAFETY: as in `sytrd`; `1 <= low <= high <= n`.
    unsafe { T::gehrd(n, low, high, a, n, tau, work, lwork) }
}
