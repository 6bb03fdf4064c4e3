//! Singular values.

use super::lengths::{best_length, elements, length, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Vectors};

/// The workspace of [`gesdd`], if LAPACK can be asked for the best one without an overflow of its own.
pub fn gesdd_sizes<T: Routines>(vectors: Vectors, m: Int, n: Int) -> Option<Sizes> {
    let (minimum, real, ints) = minima::<T>(vectors, m, n);
    // The largest of the sums that LAPACK forms, with blocked steps on all rows and columns.
    let blocked = (i128::from(m) + i128::from(n)) * BLOCK + i128::from(m.min(n)).pow(2);
    Sizes::new(minimum + blocked, real, ints)?;
    let (job, ldvt) = (vectors as u8, vectors.counts(m, n).1.max(1));
    let (mut best, mut none, mut s, mut flags) = (
        [T::Wide::ZERO],
        [T::Wide::ZERO],
        [<T::Wide as Element>::Real::ZERO],
        [0],
    );
    let (work, none, s) = (best.as_mut_ptr(), none.as_mut_ptr(), s.as_mut_ptr());
    let flags = flags.as_mut_ptr();
    // SAFETY: with a workspace of -1 the routine checks its arguments, which are good, and writes the
    // best size to `best`.
    unsafe {
        T::Wide::gesdd(
            job, m, n, none, m, s, none, m, none, ldvt, work, -1, s, flags,
        )
    };
    Sizes::new(best_length(best[0]).max(minimum), real, ints)
}

/// Lengths of `work`, real workspace and integers that are enough whatever the LAPACK's version: the
/// documented minima of all of them, complex matrices having less in `work`.
fn minima<T: Element>(vectors: Vectors, m: Int, n: Int) -> (i128, i128, i128) {
    let (min, max) = (i128::from(m.min(n)), i128::from(m.max(n)));
    let work = match (vectors, T::COMPLEX) {
        (Vectors::No, false) => 3 * min + max.max(7 * min),
        (Vectors::No, true) => 2 * min + max,
        (_, false) => 4 * min * min + 7 * min + max,
        (_, true) => min * min + 3 * min + max,
    };
    let real = match (vectors, T::COMPLEX) {
        (_, false) => 0,
        (Vectors::No, true) => 7 * min,
        (_, true) => (5 * min * min + 7 * min).max(2 * max * min + 2 * min * min + min),
    };
    (work, real, 8 * min)
}

/// Real workspace of [`gesdd`] on complex matrices.
pub(crate) fn gesdd_real(job: u8, m: Int, n: Int) -> Int {
    let vectors = if job == b'N' {
        Vectors::No
    } else {
        Vectors::Thin
    };
    let (_, real, _) = minima::<matrices::Complex<f64>>(vectors, m, n);
    // No more than `Sizes` has.
    Int::try_from(real).unwrap_or(Int::MAX)
}

/// `A = U diag(s) Vᴴ` by divide and conquer; `a` is overwritten, `s` has `min(m, n)` places, `u` and
/// `vt` are as [`Vectors`] has them (empty for `No`).
pub fn gesdd<T: Routines>(
    vectors: Vectors,
    (m, n): (Int, Int),
    a: &mut [T],
    s: &mut [T::Real],
    (u, vt): (&mut [T], &mut [T]),
    ws: &mut Workspace<T>,
) -> Int {
    let ldvt = checked_lengths("gesdd", vectors, (m, n), a, s, (u, vt));
    let (work, real, ints) = minima::<T>(vectors, m, n);
    assert!(ws.work.len() as i128 >= work && ws.real.len() as i128 >= real);
    assert!(ws.ints.len() as i128 >= ints);
    let job = vectors as u8;
    let ([a, u, vt], s) = ([a, u, vt].map(<[T]>::as_mut_ptr), s.as_mut_ptr());
    let (lwork, work, real) = (length(&ws.work), ws.work.as_mut_ptr(), ws.real.as_mut_ptr());
    let ints = ws.ints.as_mut_ptr();
    // SAFETY: matrices, singular values and workspaces have the lengths that the routine's
    // documentation asks for, checked above, with leading dimensions of their own row counts: no
    // argument is one that LAPACK refuses.
    unsafe { T::gesdd(job, m, n, a, m, s, u, m, vt, ldvt, work, lwork, real, ints) }
}

/// Refuses operands of other lengths than `routine` takes for these vectors; the leading dimension of
/// `vt`.
pub(super) fn checked_lengths<T: Element>(
    routine: &str,
    vectors: Vectors,
    (m, n): (Int, Int),
    a: &[T],
    s: &[T::Real],
    (u, vt): (&[T], &[T]),
) -> Int {
    assert!(m > 0 && n > 0, "{routine} needs a matrix, got {m} x {n}");
    let (columns, rows) = vectors.counts(m, n);
    assert_eq!(a.len(), elements(m, n));
    assert_eq!(s.len(), m.min(n) as usize);
    assert_eq!(u.len(), elements(m, columns));
    assert_eq!(vt.len(), elements(rows, n));
    rows.max(1)
}
