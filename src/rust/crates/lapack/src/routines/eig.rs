//! Eigenvalues of general matrices.

use super::lengths::{best_length, job, length, order_with_values, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::Element;

/// The workspace of [`geev`], with or without left and right eigenvectors.
pub fn geev_sizes<T: Routines>((left, right): (bool, bool), n: Int) -> Option<Sizes> {
    let (order, real) = (i128::from(n), 2 * i128::from(n));
    // More than the sums that LAPACK forms.
    Sizes::new((2 * BLOCK + 8) * order + BLOCK * BLOCK, real, 0)?;
    let (mut best, mut none, mut nothing) = (
        [T::Wide::ZERO],
        [T::Wide::ZERO],
        [<T::Wide as Element>::Real::ZERO],
    );
    let (none, real_none) = (none.as_mut_ptr(), nothing.as_mut_ptr());
    let (jobvl, jobvr, work) = (job(left), job(right), best.as_mut_ptr());
    // SAFETY: with a workspace of -1 the routine checks its arguments, which are good, and writes the
    // best size to `best`.
    unsafe {
        T::Wide::geev(
            jobvl, jobvr, n, none, n, none, none, none, n, none, n, work, -1, real_none,
        )
    };
    // The documented minima: 4 n with eigenvectors, less for complex matrices.
    Sizes::new(best_length(best[0]).max(4 * order), real, 0)
}

/// The eigenvalues of `a`, which is overwritten: in `w` those of complex matrices (`wi` is empty), in
/// `w` and `wi` the parts of those of real ones, a conjugate pair side by side, the one with the
/// positive imaginary part first. `vl` and `vr` are empty or become the left and right eigenvectors,
/// [packed](unpack).
pub fn geev<T: Routines>(
    a: &mut [T],
    (w, wi): (&mut [T], &mut [T]),
    (vl, vr): (&mut [T], &mut [T]),
    ws: &mut Workspace<T>,
) -> Int {
    let n = order_with_values(a, (w, wi));
    assert!(vl.is_empty() || vl.len() == a.len());
    assert!(vr.is_empty() || vr.len() == a.len());
    assert!(ws.work.len() >= 4 * w.len());
    assert!(ws.real.len() >= 2 * w.len());
    let (jobvl, jobvr) = (job(!vl.is_empty()), job(!vr.is_empty()));
    let (a, w, wi) = (a.as_mut_ptr(), w.as_mut_ptr(), wi.as_mut_ptr());
    let (vl, vr) = (vl.as_mut_ptr(), vr.as_mut_ptr());
    let (lwork, work, real) = (length(&ws.work), ws.work.as_mut_ptr(), ws.real.as_mut_ptr());
    // SAFETY: `a` and the eigenvectors that are asked for are `n` × `n`, the eigenvalues have `n`
    // places, `n` is positive, and the workspaces are not shorter than the routine's documentation
    // asks.
    unsafe {
        T::geev(
            jobvl, jobvr, n, a, n, w, wi, vl, n, vr, n, work, lwork, real,
        )
    }
}

/// The eigenvectors as columns of complex numbers: those of a real matrix are packed, the real and the
/// imaginary part of the first of a conjugate pair being two columns.
pub fn unpack<T: Element>(wi: &[T], packed: &[T], to: &mut [T::Complex]) {
    if T::COMPLEX {
        for (to, &value) in to.iter_mut().zip(packed) {
            *to = value.with_imaginary(T::ZERO);
        }
        return;
    }
    let n = wi.len().max(1);
    let mut columns = packed.chunks_exact(n).zip(to.chunks_exact_mut(n));
    let mut imaginary = wi.iter();
    while let (Some((re, to)), Some(&wi)) = (columns.next(), imaginary.next()) {
        if wi.magnitude() == 0.0 {
            for (to, &re) in to.iter_mut().zip(re) {
                *to = re.with_imaginary(T::ZERO);
            }
        } else if let Some((im, conjugate)) = columns.next() {
            imaginary.next();
            let parts = re.iter().zip(im);
            for ((to, conjugate), (&re, &im)) in to.iter_mut().zip(conjugate).zip(parts) {
                *to = re.with_imaginary(im);
                *conjugate = re.with_imaginary(im.times(-1.0));
            }
        }
    }
}
