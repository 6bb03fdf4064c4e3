//! Eigenvalues of Hermitian matrices.

use super::super::sys::{self, Int};
use super::super::workspace::{Sizes, Workspace};
use super::{elements, length, letter, Element, BLOCK};

/// The triangle of a matrix that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower = b'L',
    /// On and above the diagonal.
    Upper = b'U',
}

/// Eigenvalues of Hermitian matrices.
pub trait Eigh: Element {
    /// The workspace of [`syevd`](Eigh::syevd).
    fn syevd_sizes(vectors: bool, n: Int) -> Option<Sizes>;

    /// `A = V diag(w) Vᴴ`, `w` ascending, by divide and conquer; `a` becomes `V` if `vectors`,
    /// else anything. `n` is not 0, and the triangle is finite. Returns LAPACK's `info`, positive
    /// where it did not converge.
    fn syevd(
        vectors: bool,
        triangle: Triangle,
        a: &mut [Self],
        w: &mut [Self::Real],
        ws: &mut Workspace<Self>,
    ) -> Int;
}

macro_rules! eigh {
    ($scalar:ty, $sys:ident, real) => {
        impl Eigh for $scalar {
            fn syevd_sizes(vectors: bool, n: Int) -> Option<Sizes> {
                let n = i128::from(n);
                let blocked = 2 * n + n * BLOCK;
                match vectors {
                    true => Sizes::new(blocked.max(1 + 6 * n + 2 * n * n), 0, 3 + 5 * n),
                    false => Sizes::new(blocked + 1, 0, 1),
                }
            }

            fn syevd(
                vectors: bool,
                triangle: Triangle,
                a: &mut [Self],
                w: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                let (n, job) = (length(w), if vectors { b'V' } else { b'N' });
                assert_eq!(a.len(), elements(n, n));
                assert!(n > 0 && Self::syevd_sizes(vectors, n).is_some_and(|s| ws.holds(s)));
                let (lwork, lints) = (length(&ws.work), length(&ws.ints));
                let mut info = 0;
                // SAFETY: `a` is `n` × `n` without gaps, `w` has `n` places, and the workspaces
                // are at least as long as the routine's documentation asks.
                unsafe {
                    sys::$sys::syevd(
                        letter(&job),
                        letter(&(triangle as u8)),
                        &n,
                        a.as_mut_ptr(),
                        &n,
                        w.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        ws.ints.as_mut_ptr(),
                        &lints,
                        &mut info,
                        1,
                        1,
                    );
                }
                info
            }
        }
    };
    ($scalar:ty, $sys:ident, complex) => {
        impl Eigh for $scalar {
            fn syevd_sizes(vectors: bool, n: Int) -> Option<Sizes> {
                let n = i128::from(n);
                let blocked = n + n * BLOCK;
                match vectors {
                    true => {
                        Sizes::new(blocked.max(2 * n + n * n), 1 + 5 * n + 2 * n * n, 3 + 5 * n)
                    }
                    false => Sizes::new(blocked + 1, n, 1),
                }
            }

            fn syevd(
                vectors: bool,
                triangle: Triangle,
                a: &mut [Self],
                w: &mut [<Self as Element>::Real],
                ws: &mut Workspace<Self>,
            ) -> Int {
                let (n, job) = (length(w), if vectors { b'V' } else { b'N' });
                assert_eq!(a.len(), elements(n, n));
                assert!(n > 0 && Self::syevd_sizes(vectors, n).is_some_and(|s| ws.holds(s)));
                let (lwork, lints) = (length(&ws.work), length(&ws.ints));
                let lreal = length(&ws.real);
                let mut info = 0;
                // SAFETY: as for real matrices, with a real workspace besides.
                unsafe {
                    sys::$sys::syevd(
                        letter(&job),
                        letter(&(triangle as u8)),
                        &n,
                        a.as_mut_ptr(),
                        &n,
                        w.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        ws.real.as_mut_ptr(),
                        &lreal,
                        ws.ints.as_mut_ptr(),
                        &lints,
                        &mut info,
                        1,
                        1,
                    );
                }
                info
            }
        }
    };
}
for_each_scalar!(eigh);
