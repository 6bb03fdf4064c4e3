//! Reduction to simpler forms, products with `Q`, and tridiagonal systems.

use super::{elements, length, letter, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Triangle};

/// What newer versions keep of a block of reflectors in the workspace.
const FACTOR: i128 = 65 * BLOCK;

/// Reductions of one matrix, products with `Q`, tridiagonal systems.
pub trait Reduce: Worked {
    /// The workspace of all of them; `n` is the order, or the larger dimension of `C`.
    fn reduce_sizes(n: Int) -> Option<Sizes> {
        Sizes::new(i128::from(n) * BLOCK + FACTOR, 0, 0)
    }

    /// `Q C`, `C Q` (`left_adjoint.0` or not) or the same with `Qᴴ`
    /// (`left_adjoint.1`), in place of `c` (`m` × `n`, neither 0).
    /// `a` has the reflectors of `Q`, one column for each of `tau`, and is restored.
    fn ormqr(
        left_adjoint: (bool, bool),
        shape: (Int, Int),
        a: &mut [Self],
        tau: &[Self],
        c: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;

    /// `Qᴴ A Q` tridiagonal, `d` its diagonal, `e` the one beside it; the reflectors in `a` and
    /// `tau`. Returns LAPACK's `info`.
    fn sytrd(
        triangle: Triangle,
        a: &mut [Self],
        d: &mut [Self::Real],
        e: &mut [Self::Real],
        tau: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;

    /// `Qᴴ A Q` of Hessenberg form; `a`, of order `n`, is that already outside of rows and columns
    /// `low_high` (first and last), counted from 1. Returns LAPACK's `info`.
    fn gehrd(
        n: Int,
        low_high: (Int, Int),
        a: &mut [Self],
        tau: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;

    /// Solves a tridiagonal system in place of `b`; the factors in place of the diagonals. Returns
    /// LAPACK's `info`, positive where the matrix is singular.
    fn gtsv(dl: &mut [Self], d: &mut [Self], du: &mut [Self], b: &mut [Self]) -> Int;
}

macro_rules! reduce {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Reduce for $scalar {
            fn ormqr(
                (left, adjoint): (bool, bool),
                (m, n): (Int, Int),
                a: &mut [Self],
                tau: &[Self],
                c: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                let (k, order) = (length(tau), if left { m } else { n });
                assert!(m > 0 && n > 0 && k <= order);
                assert_eq!(a.len(), elements(order, k));
                assert_eq!(c.len(), elements(m, n));
                assert!(Self::reduce_sizes(m.max(n)).is_some_and(|sizes| ws.holds(sizes)));
                let side = if left { b'L' } else { b'R' };
                let adjoint_letter = if stringify!($kind) == "complex" {
                    b'C'
                } else {
                    b'T'
                };
                let trans = if adjoint { adjoint_letter } else { b'N' };
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: `a` is `order` × `k` and `c` `m` × `n`, without gaps, `tau` has `k`
                // places, `k <= order`, and the workspace is longer than the minimum.
                unsafe {
                    sys::$sys::ormqr(
                        letter(&side),
                        letter(&trans),
                        &m,
                        &n,
                        &k,
                        a.as_mut_ptr(),
                        &order,
                        tau.as_ptr(),
                        c.as_mut_ptr(),
                        &m,
                        ws.work.as_mut_ptr(),
                        &lwork,
                        &mut info,
                        1,
                        1,
                    );
                }
                info
            }

            fn sytrd(
                triangle: Triangle,
                a: &mut [Self],
                d: &mut [<Self as Element>::Real],
                e: &mut [<Self as Element>::Real],
                tau: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                let n = length(d);
                assert!(n > 0 && a.len() == elements(n, n));
                assert!(e.len() == d.len() - 1 && tau.len() == d.len() - 1);
                assert!(Self::reduce_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: `a` is `n` × `n` without gaps, the vectors are as long as the routine
                // asks, and the workspace is longer than the minimum.
                unsafe {
                    sys::$sys::sytrd(
                        letter(&(triangle as u8)),
                        &n,
                        a.as_mut_ptr(),
                        &n,
                        d.as_mut_ptr(),
                        e.as_mut_ptr(),
                        tau.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        &mut info,
                        1,
                    );
                }
                info
            }

            fn gehrd(
                n: Int,
                (low, high): (Int, Int),
                a: &mut [Self],
                tau: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(n > 0 && a.len() == elements(n, n) && tau.len() == n as usize - 1);
                assert!(1 <= low && low <= high && high <= n);
                assert!(Self::reduce_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: as in `sytrd`; `1 <= low <= high <= n`.
                unsafe {
                    sys::$sys::gehrd(
                        &n,
                        &low,
                        &high,
                        a.as_mut_ptr(),
                        &n,
                        tau.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        &mut info,
                    );
                }
                info
            }

            fn gtsv(dl: &mut [Self], d: &mut [Self], du: &mut [Self], b: &mut [Self]) -> Int {
                assert!(!d.is_empty() && b.len() % d.len() == 0);
                assert!(dl.len() == d.len() - 1 && du.len() == d.len() - 1);
                let columns = Int::try_from(b.len() / d.len()).unwrap_or(Int::MAX);
                let n = length(d);
                assert_eq!(b.len(), elements(n, columns));
                let mut info = 0;
                // SAFETY: the diagonals have `n` and `n - 1` places, `b` is `n` × `columns`
                // without gaps, and `n` is positive.
                unsafe {
                    sys::$sys::gtsv(
                        &n,
                        &columns,
                        dl.as_mut_ptr(),
                        d.as_mut_ptr(),
                        du.as_mut_ptr(),
                        b.as_mut_ptr(),
                        &n,
                        &mut info,
                    );
                }
                info
            }
        }
    };
}
for_each_scalar!(reduce);
