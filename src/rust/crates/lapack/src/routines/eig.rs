//! Eigenvalues of general matrices.

use super::{elements, length, letter, told, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::{Complex, Element};

/// Eigenvalues of general matrices.
pub trait Eig: Worked {
    /// The workspace of [`geev`](Eig::geev), with or without left and right eigenvectors.
    fn geev_sizes(left_right: (bool, bool), n: Int) -> Option<Sizes>;

    /// The eigenvalues of `a`, which is overwritten and must be finite: in `w` those of complex
    /// matrices (`wi` is empty), in `w` and `wi` the parts of those of real ones, a conjugate pair
    /// side by side, the one with the positive imaginary part first. `vl` and `vr` are empty or
    /// become the left and right eigenvectors, [packed](Eig::unpack). The order is not 0. Returns
    /// LAPACK's `info`, positive where it did not converge.
    fn geev(
        a: &mut [Self],
        w_wi: (&mut [Self], &mut [Self]),
        vl_vr: (&mut [Self], &mut [Self]),
        ws: &mut Workspace<Self>,
    ) -> Int;

    /// The eigenvectors as columns of complex numbers: those of a real matrix are packed, the real
    /// and the imaginary part of the first of a conjugate pair being two columns.
    fn unpack(wi: &[Self], packed: &[Self], to: &mut [Self::Complex]);
}

macro_rules! unpack {
    (complex) => {
        fn unpack(_: &[Self], packed: &[Self], to: &mut [Self]) {
            to.copy_from_slice(packed);
        }
    };
    (real) => {
        fn unpack(wi: &[Self], packed: &[Self], to: &mut [Complex<Self>]) {
            let n = wi.len().max(1);
            let mut columns = packed.chunks_exact(n).zip(to.chunks_exact_mut(n));
            let mut imaginary = wi.iter();
            while let (Some((re, to)), Some(&wi)) = (columns.next(), imaginary.next()) {
                if wi == 0.0 {
                    for (to, &re) in to.iter_mut().zip(re) {
                        *to = Complex::new(re, 0.0);
                    }
                } else if let Some((im, conjugate)) = columns.next() {
                    imaginary.next();
                    let parts = re.iter().zip(im);
                    for ((to, conjugate), (&re, &im)) in to.iter_mut().zip(conjugate).zip(parts) {
                        *to = Complex::new(re, im);
                        *conjugate = Complex::new(re, -im);
                    }
                }
            }
        }
    };
}

macro_rules! eig {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Eig for $scalar {
            fn geev_sizes((left, right): (bool, bool), n: Int) -> Option<Sizes> {
                let (order, real) = (i128::from(n), 2 * i128::from(n));
                // More than the sums that LAPACK forms.
                Sizes::new((2 * BLOCK + 8) * order + BLOCK * BLOCK, real, 0)?;
                let job = |wanted: bool| if wanted { b'V' } else { b'N' };
                let (jobvl, jobvr) = (job(left), job(right));
                let (mut best, mut info) = ([Self::ZERO], 0);
                let mut nothing = [Self::ZERO];
                let nothing = nothing.as_mut_ptr();
                // SAFETY: with a workspace of -1 the routine checks its arguments, which are
                // good, and writes the best size to `best`.
                unsafe {
                    call!($kind, sys::$sys::geev, {
                        letter(&jobvl), letter(&jobvr), &n, nothing, &n, nothing,
                        real: nothing,
                        nothing, &n, nothing, &n, best.as_mut_ptr(), &-1,
                        complex: [0.0].as_mut_ptr(),
                        &mut info, 1, 1,
                    });
                }
                // The documented minima: 4 n with eigenvectors, less for complex matrices.
                Sizes::new(told(best[0]).max(4 * order), real, 0)
            }

            fn geev(
                a: &mut [Self],
                (w, wi): (&mut [Self], &mut [Self]),
                (vl, vr): (&mut [Self], &mut [Self]),
                ws: &mut Workspace<Self>,
            ) -> Int {
                let n = length(w);
                assert!(n > 0 && a.len() == elements(n, n));
                assert_eq!(wi.len(), select!($kind, w.len(), 0));
                assert!(vl.is_empty() || vl.len() == a.len());
                assert!(vr.is_empty() || vr.len() == a.len());
                let job = |wanted: bool| if wanted { b'V' } else { b'N' };
                let (jobvl, jobvr) = (job(!vl.is_empty()), job(!vr.is_empty()));
                assert!(ws.work.len() >= 4 * w.len());
                assert!(ws.real.len() >= 2 * w.len());
                let lwork = length(&ws.work);
                let mut info = 0;
                // SAFETY: `a` and the eigenvectors that are asked for are `n` × `n`, the
                // eigenvalues have `n` places, `n` is positive, and the workspaces are not shorter
                // than the routine's documentation asks.
                unsafe {
                    call!($kind, sys::$sys::geev, {
                        letter(&jobvl), letter(&jobvr), &n, a.as_mut_ptr(), &n, w.as_mut_ptr(),
                        real: wi.as_mut_ptr(),
                        vl.as_mut_ptr(), &n, vr.as_mut_ptr(), &n, ws.work.as_mut_ptr(), &lwork,
                        complex: ws.real.as_mut_ptr(),
                        &mut info, 1, 1,
                    });
                }
                info
            }

            unpack!($kind);
        }
    };
}
for_each_scalar!(eig);
