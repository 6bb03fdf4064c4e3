//! Schur form.

use super::lengths::{best_length, job, length, order_with_values, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::Element;

/// The workspace of [`gees`].
pub fn gees_sizes<T: Routines>(vectors: bool, n: Int) -> Option<Sizes> {
    let (order, real) = (i128::from(n), i128::from(n));
    // More than the sums that LAPACK forms.
    Sizes::new((BLOCK + 8) * order + BLOCK * BLOCK, real, 0)?;
    let (mut best, mut none, mut nothing) = (
        [T::Wide::ZERO],
        [T::Wide::ZERO],
        [<T::Wide as Element>::Real::ZERO],
    );
    let (none, real_none) = (none.as_mut_ptr(), nothing.as_mut_ptr());
    let (mut count, mut flags, work) = (0, [0], best.as_mut_ptr());
    let (job, flags) = (job(vectors), flags.as_mut_ptr());
    // SAFETY: with a workspace of -1 the routine checks its arguments, which are good, and writes the
    // best size to `best`.
    unsafe {
        T::Wide::gees(
            job, b'N', n, none, n, &mut count, none, none, none, n, work, -1, real_none, flags,
        )
    };
    // The documented minima: 3 n, less for complex matrices.
    Sizes::new(best_length(best[0]).max(3 * order), real, 0)
}

/// `A = Z T Zᴴ`: `a` becomes `T`, triangular, of real matrices with a block of two rows for each
/// conjugate pair; `z` is empty or becomes `Z`. The eigenvalues are in `w` (of complex matrices, `wi`
/// being empty) or their parts in `w` and `wi`.
pub fn gees<T: Routines>(
    a: &mut [T],
    (w, wi): (&mut [T], &mut [T]),
    z: &mut [T],
    ws: &mut Workspace<T>,
) -> Int {
    let n = order_with_values(a, (w, wi));
    assert!(z.is_empty() || z.len() == a.len());
    assert!(ws.work.len() >= 3 * w.len());
    assert!(ws.real.len() >= w.len());
    let (job, mut count) = (job(!z.is_empty()), 0);
    let [a, w, wi, z] = [a, w, wi, z].map(<[T]>::as_mut_ptr);
    let (lwork, work, real) = (length(&ws.work), ws.work.as_mut_ptr(), ws.real.as_mut_ptr());
    let flags = ws.ints.as_mut_ptr();
    // SAFETY: `a` and, if it is asked for, `z` are `n` × `n`, the eigenvalues have `n` places, `n` is
    // positive, and the workspaces are not shorter than the routine's documentation asks. Without
    // sorting it uses no flags.
    unsafe {
        T::gees(
            job, b'N', n, a, n, &mut count, w, wi, z, n, work, lwork, real, flags,
        )
    }
}
