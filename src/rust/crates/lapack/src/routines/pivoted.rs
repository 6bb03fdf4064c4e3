//! QR factorisation with column pivoting.

use super::{elements, length, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};

/// QR factorisation with column pivoting.
pub trait Pivoted: Worked {
    /// The workspace of [`geqp3`](Pivoted::geqp3) on `n` columns.
    fn geqp3_sizes(n: Int) -> Option<Sizes> {
        let n = i128::from(n);
        Sizes::new(2 * n + (n + 1) * BLOCK, 2 * n, 0)
    }

    /// `A P = Q R` in place, as `geqrf`; column `j` of `A P` is column `jpvt[j]` of `A`, counted
    /// from 1. Columns whose `jpvt` is not 0 at first come before the others. Neither `m` nor `n`
    /// may be 0. Returns LAPACK's `info`.
    fn geqp3(
        shape: (Int, Int),
        a: &mut [Self],
        jpvt: &mut [Int],
        tau: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;
}

macro_rules! pivoted {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Pivoted for $scalar {
            fn geqp3(
                (m, n): (Int, Int),
                a: &mut [Self],
                jpvt: &mut [Int],
                tau: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(m > 0 && n > 0, "geqp3 needs a matrix, got {m} x {n}");
                assert_eq!(a.len(), elements(m, n));
                assert_eq!(jpvt.len(), n as usize);
                assert_eq!(tau.len(), m.min(n) as usize);
                assert!(Self::geqp3_sizes(n).is_some_and(|sizes| ws.holds(sizes)));
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: matrix, pivots and factors have the lengths that the routine asks for,
                // the workspaces are longer than its minima, and no size is 0.
                unsafe {
                    call!($kind, sys::$sys::geqp3, {
                        &m, &n, a.as_mut_ptr(), &m, jpvt.as_mut_ptr(), tau.as_mut_ptr(),
                        ws.work.as_mut_ptr(), &lwork,
                        complex: ws.real.as_mut_ptr(),
                        &mut info,
                    });
                }
                info
            }
        }
    };
}
for_each_scalar!(pivoted);
