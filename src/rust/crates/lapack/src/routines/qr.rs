//! QR factorisation.

use super::{elements, length, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};

/// QR factorisation.
pub trait Qr: Worked {
    /// The workspace of [`geqrf`](Qr::geqrf) and [`orgqr`](Qr::orgqr) on `n` columns.
    fn qr_sizes(n: Int) -> Option<Sizes> {
        Sizes::new(i128::from(n) * BLOCK, 0, 0)
    }

    /// `A = Q R` in place: `R` on and above the diagonal, below it with `tau` (`min(m, n)`) the
    /// reflectors that make `Q`. Neither `m` nor `n` may be 0. Returns LAPACK's `info`.
    fn geqrf(m: Int, n: Int, a: &mut [Self], tau: &mut [Self], ws: &mut Workspace<Self>) -> Int;

    /// The first `n` columns of the `Q` that the reflectors in the first `tau.len()` columns of
    /// `a` make, in place; `tau.len() <= n <= m`, and `n` is not 0. Returns LAPACK's `info`.
    fn orgqr(m: Int, n: Int, a: &mut [Self], tau: &[Self], ws: &mut Workspace<Self>) -> Int;
}

macro_rules! qr {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Qr for $scalar {
            fn geqrf(
                m: Int,
                n: Int,
                a: &mut [Self],
                tau: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(m > 0 && n > 0, "geqrf needs a matrix, got {m} x {n}");
                assert_eq!(a.len(), elements(m, n));
                assert_eq!(tau.len(), m.min(n) as usize);
                assert!(ws.work.len() >= n as usize);
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: `a` holds `m * n` values with leading dimension `m`, `tau` `min(m, n)`,
                // and the workspace `lwork >= n`: no argument is one that LAPACK refuses.
                unsafe {
                    sys::$sys::geqrf(
                        &m,
                        &n,
                        a.as_mut_ptr(),
                        &m,
                        tau.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        &mut info,
                    );
                }
                info
            }

            fn orgqr(
                m: Int,
                n: Int,
                a: &mut [Self],
                tau: &[Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(n > 0 && n <= m && tau.len() <= n as usize);
                assert_eq!(a.len(), elements(m, n));
                assert!(ws.work.len() >= n as usize);
                let (k, lwork) = (length(tau), length(&ws.work));
                let mut info = 0;
                // SAFETY: `a` holds `m * n` values with leading dimension `m`, `tau` has `k`, the
                // workspace `lwork >= n`, and `0 <= k <= n <= m`: LAPACK refuses nothing.
                unsafe {
                    sys::$sys::orgqr(
                        &m,
                        &n,
                        &k,
                        a.as_mut_ptr(),
                        &m,
                        tau.as_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        &mut info,
                    );
                }
                info
            }
        }
    };
}
for_each_scalar!(qr);
