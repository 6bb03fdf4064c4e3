//! Eigenvalues of Hermitian matrices.

use super::lengths::{elements, job, length, BLOCK};
use crate::int::Int;
use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::Triangle;

/// The workspace of [`syevd`].
pub fn syevd_sizes<T: Routines>(vectors: bool, n: Int) -> Option<Sizes> {
    let n = i128::from(n);
    let real = 1 + 5 * n + 2 * n * n;
    match (T::COMPLEX, vectors) {
        (false, true) => Sizes::new((2 * n + n * BLOCK).max(real + n), 0, 3 + 5 * n),
        (false, false) => Sizes::new(2 * n + n * BLOCK + 1, 0, 1),
        (true, true) => Sizes::new((n + n * BLOCK).max(n * n + 2 * n), real, 3 + 5 * n),
        (true, false) => Sizes::new(n + n * BLOCK + 1, n, 1),
    }
}

/// `A = V diag(w) Vᴴ`, `w` ascending, by divide and conquer; `a` becomes `V` if `vectors`, else
/// anything.
pub fn syevd<T: Routines>(
    vectors: bool,
    triangle: Triangle,
    a: &mut [T],
    w: &mut [T::Real],
    ws: &mut Workspace<T>,
) -> Int {
    let (n, job, uplo) = (length(w), job(vectors), triangle as u8);
    assert_eq!(a.len(), elements(n, n));
    assert!(n > 0 && syevd_sizes::<T>(vectors, n).is_some_and(|sizes| ws.holds(sizes)));
    let (a, w) = (a.as_mut_ptr(), w.as_mut_ptr());
    let (lwork, work) = (length(&ws.work), ws.work.as_mut_ptr());
    let (lreal, real) = (length(&ws.real), ws.real.as_mut_ptr());
    let (lints, ints) = (length(&ws.ints), ws.ints.as_mut_ptr());
    // SAFETY: `a` is `n` × `n` without gaps, `w` has `n` places, and the workspaces are at least as
    // long as the routine's documentation asks.
    unsafe { T::syevd(job, uplo, n, a, n, w, work, lwork, real, lreal, ints, lints) }
}
