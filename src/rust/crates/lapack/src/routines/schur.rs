//! Schur form.

use super::{elements, length, letter, told, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::Element;

/// Schur form.
pub trait Schur: Worked {
    /// The workspace of [`gees`](Schur::gees).
    fn gees_sizes(vectors: bool, n: Int) -> Option<Sizes>;

    /// `A = Z T Zᴴ`: `a`, which must be finite, becomes `T`, triangular, of real matrices with a
    /// block of two rows for each conjugate pair; `z` is empty or becomes `Z`. The eigenvalues are
    /// in `w` (of complex matrices, `wi` being empty) or their parts in `w` and `wi`. The order is
    /// not 0. Returns LAPACK's `info`, positive where it did not converge.
    fn gees(
        a: &mut [Self],
        w_wi: (&mut [Self], &mut [Self]),
        z: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;
}

macro_rules! schur {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Schur for $scalar {
            fn gees_sizes(vectors: bool, n: Int) -> Option<Sizes> {
                let (order, real) = (i128::from(n), i128::from(n));
                // More than the sums that LAPACK forms.
                Sizes::new((BLOCK + 8) * order + BLOCK * BLOCK, real, 0)?;
                let job = if vectors { b'V' } else { b'N' };
                let (mut best, mut count, mut info) = ([Self::ZERO], 0, 0);
                let (mut nothing, mut flags) = ([Self::ZERO], [0]);
                let nothing = nothing.as_mut_ptr();
                // SAFETY: with a workspace of -1 the routine checks its arguments, which are
                // good, and writes the best size to `best`.
                unsafe {
                    call!($kind, sys::$sys::gees, {
                        letter(&job), letter(&b'N'), None, &n, nothing, &n, &mut count, nothing,
                        real: nothing,
                        nothing, &n, best.as_mut_ptr(), &-1,
                        complex: [0.0].as_mut_ptr(),
                        flags.as_mut_ptr(), &mut info, 1, 1,
                    });
                }
                // The documented minima: 3 n, less for complex matrices.
                Sizes::new(told(best[0]).max(3 * order), real, 0)
            }

            fn gees(
                a: &mut [Self],
                (w, wi): (&mut [Self], &mut [Self]),
                z: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                let n = length(w);
                assert!(n > 0 && a.len() == elements(n, n));
                assert_eq!(wi.len(), select!($kind, w.len(), 0));
                assert!(z.is_empty() || z.len() == a.len());
                assert!(ws.work.len() >= 3 * w.len());
                assert!(ws.real.len() >= w.len());
                let (job, lwork) = (if z.is_empty() { b'N' } else { b'V' }, length(&ws.work));
                let (mut count, mut info) = (0, 0);
                // SAFETY: `a` and, if it is asked for, `z` are `n` × `n`, the eigenvalues have `n`
                // places, `n` is positive, and the workspaces are not shorter than the routine's
                // documentation asks. Without sorting it calls no function of ours and uses no
                // flags.
                unsafe {
                    call!($kind, sys::$sys::gees, {
                        letter(&job), letter(&b'N'), None, &n, a.as_mut_ptr(), &n, &mut count,
                        w.as_mut_ptr(),
                        real: wi.as_mut_ptr(),
                        z.as_mut_ptr(), &n, ws.work.as_mut_ptr(), &lwork,
                        complex: ws.real.as_mut_ptr(),
                        ws.ints.as_mut_ptr(), &mut info, 1, 1,
                    });
                }
                info
            }
        }
    };
}
for_each_scalar!(schur);
