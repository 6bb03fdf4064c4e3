//! Singular values by the QR algorithm.

use super::lengths::{best_length, length, BLOCK};
use super::svd::checked_lengths;
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Vectors};

/// The workspace of [`gesvd`].
pub fn gesvd_sizes<T: Routines>(vectors: Vectors, m: Int, n: Int) -> Option<Sizes> {
    let (minimum, min) = (minimum(m, n), i128::from(m.min(n)));
    let real = 5 * min;
    // More than the sums that LAPACK forms.
    let blocked = (i128::from(m) + i128::from(n)) * BLOCK + min * min;
    Sizes::new(minimum + blocked, real, 0)?;
    let (job, ldvt) = (vectors as u8, vectors.counts(m, n).1.max(1));
    let (mut best, mut none, mut s) = (
        [T::Wide::ZERO],
        [T::Wide::ZERO],
        [<T::Wide as Element>::Real::ZERO],
    );
    let (work, none, s) = (best.as_mut_ptr(), none.as_mut_ptr(), s.as_mut_ptr());
    // SAFETY: with a workspace of -1 the routine checks its arguments, which are good, and writes the
    // best size to `best`.
    unsafe { T::Wide::gesvd(job, job, m, n, none, m, s, none, m, none, ldvt, work, -1, s) };
    Sizes::new(best_length(best[0]).max(minimum), real, 0)
}

/// The documented minimum of `work`; complex matrices need less.
fn minimum(m: Int, n: Int) -> i128 {
    let (min, max) = (i128::from(m.min(n)), i128::from(m.max(n)));
    (3 * min + max).max(5 * min)
}

/// `A = U diag(s) Vᴴ` as [`gesdd`](super::gesdd), by the QR algorithm.
pub fn gesvd<T: Routines>(
    vectors: Vectors,
    (m, n): (Int, Int),
    a: &mut [T],
    s: &mut [T::Real],
    (u, vt): (&mut [T], &mut [T]),
    ws: &mut Workspace<T>,
) -> Int {
    let ldvt = checked_lengths("gesvd", vectors, (m, n), a, s, (u, vt));
    assert!(ws.work.len() as i128 >= minimum(m, n));
    assert!(ws.real.len() >= 5 * s.len());
    let job = vectors as u8;
    let ([a, u, vt], s) = ([a, u, vt].map(<[T]>::as_mut_ptr), s.as_mut_ptr());
    let (lwork, work, real) = (length(&ws.work), ws.work.as_mut_ptr(), ws.real.as_mut_ptr());
    // SAFETY: matrices, singular values and workspaces have the lengths that the routine's
    // documentation asks for, with leading dimensions of their own row counts: no argument is one that
    // LAPACK refuses.
    unsafe { T::gesvd(job, job, m, n, a, m, s, u, m, vt, ldvt, work, lwork, real) }
}
