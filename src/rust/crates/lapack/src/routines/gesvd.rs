//! Singular values by the QR algorithm.

use super::{elements, length, letter, told, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Vectors};

/// Singular values by the QR algorithm.
pub trait QrSvd: Worked {
    /// The workspace of [`gesvd`](QrSvd::gesvd).
    fn gesvd_sizes(vectors: Vectors, m: Int, n: Int) -> Option<Sizes>;

    /// `A = U diag(s) Vᴴ` as [`gesdd`](super::Svd::gesdd), by the QR algorithm.
    fn gesvd(
        vectors: Vectors,
        shape: (Int, Int),
        a: &mut [Self],
        s: &mut [Self::Real],
        u_vt: (&mut [Self], &mut [Self]),
        ws: &mut Workspace<Self>,
    ) -> Int;
}

/// The documented minimum of `work`; complex matrices need less.
fn minimum(m: Int, n: Int) -> i128 {
    let (min, max) = (i128::from(m.min(n)), i128::from(m.max(n)));
    (3 * min + max).max(5 * min)
}

macro_rules! gesvd {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl QrSvd for $scalar {
            fn gesvd_sizes(vectors: Vectors, m: Int, n: Int) -> Option<Sizes> {
                let (work, min) = (minimum(m, n), i128::from(m.min(n)));
                let real = 5 * min;
                // More than the sums that LAPACK forms.
                let blocked = (i128::from(m) + i128::from(n)) * BLOCK + min * min;
                Sizes::new(work + blocked, real, 0)?;
                let (job, ldvt) = (vectors as u8, vectors.counts(m, n).1.max(1));
                let (mut best, mut info) = ([Self::ZERO], 0);
                let (mut s, mut nothing) = ([0.0], [Self::ZERO]);
                let (s, nothing) = (s.as_mut_ptr(), nothing.as_mut_ptr());
                // SAFETY: with a workspace of -1 the routine checks its arguments, which are
                // good, and writes the best size to `best`.
                unsafe {
                    call!($kind, sys::$sys::gesvd, {
                        letter(&job), letter(&job), &m, &n, nothing, &m, s, nothing, &m, nothing,
                        &ldvt, best.as_mut_ptr(), &-1,
                        complex: s,
                        &mut info, 1, 1,
                    });
                }
                Sizes::new(told(best[0]).max(work), real, 0)
            }

            fn gesvd(
                vectors: Vectors,
                (m, n): (Int, Int),
                a: &mut [Self],
                s: &mut [<Self as Element>::Real],
                (u, vt): (&mut [Self], &mut [Self]),
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(m > 0 && n > 0, "gesvd needs a matrix, got {m} x {n}");
                let (columns, rows) = vectors.counts(m, n);
                assert_eq!(a.len(), elements(m, n));
                assert_eq!(s.len(), m.min(n) as usize);
                assert_eq!(u.len(), elements(m, columns));
                assert_eq!(vt.len(), elements(rows, n));
                assert!(ws.work.len() as i128 >= minimum(m, n));
                assert!(ws.real.len() >= 5 * s.len());
                let (job, ldvt, lwork) = (vectors as u8, rows.max(1), length(&ws.work));
                let mut info = 0;
                // SAFETY: matrices, singular values and workspaces have the lengths that the
                // routine's documentation asks for, with leading dimensions of their own row
                // counts: no argument is one that LAPACK refuses.
                unsafe {
                    call!($kind, sys::$sys::gesvd, {
                        letter(&job), letter(&job), &m, &n, a.as_mut_ptr(), &m, s.as_mut_ptr(),
                        u.as_mut_ptr(), &m, vt.as_mut_ptr(), &ldvt, ws.work.as_mut_ptr(), &lwork,
                        complex: ws.real.as_mut_ptr(),
                        &mut info, 1, 1,
                    });
                }
                info
            }
        }
    };
}
for_each_scalar!(gesvd);
