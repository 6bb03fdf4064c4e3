//! Eigenvalues of Hermitian matrices.

use super::{elements, length, letter, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Triangle};

/// Eigenvalues of Hermitian matrices.
pub trait Eigh: Worked {
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
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Eigh for $scalar {
            fn syevd_sizes(vectors: bool, n: Int) -> Option<Sizes> {
                let n = i128::from(n);
                let parts = select!($kind, 2, 1);
                let blocked = parts * n + n * BLOCK;
                let squares = (1 + 5 * n + 2 * n * n, n * n + 2 * n);
                match vectors {
                    true => Sizes::new(
                        blocked.max(select!($kind, squares.0 + n, squares.1)),
                        select!($kind, 0, squares.0),
                        3 + 5 * n,
                    ),
                    false => Sizes::new(blocked + 1, select!($kind, 0, n), 1),
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
                let mut info = 0;
                // SAFETY: `a` is `n` × `n` without gaps, `w` has `n` places, and the workspaces
                // are at least as long as the routine's documentation asks; a real routine takes
                // no real workspace besides.
                unsafe {
                    call!($kind, sys::$sys::syevd, {
                        letter(&job),
                        letter(&(triangle as u8)),
                        &n,
                        a.as_mut_ptr(),
                        &n,
                        w.as_mut_ptr(),
                        ws.work.as_mut_ptr(),
                        &lwork,
                        complex: ws.real.as_mut_ptr(),
                        complex: &length(&ws.real),
                        ws.ints.as_mut_ptr(),
                        &lints,
                        &mut info,
                        1,
                        1,
                    });
                }
                info
            }
        }
    };
}
for_each_scalar!(eigh);
