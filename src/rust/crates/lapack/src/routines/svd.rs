//! Singular values.

use super::{elements, length, letter, told, Worked, BLOCK};
use crate::sys::{self, Int};
use crate::workspace::{Sizes, Workspace};
use matrices::{Element, Vectors};

/// Singular values.
pub trait Svd: Worked {
    /// The workspace of [`gesdd`](Svd::gesdd).
    fn gesdd_sizes(vectors: Vectors, m: Int, n: Int) -> Option<Sizes>;

    /// `A = U diag(s) Vᴴ` by divide and conquer; `a` is overwritten, `s` has `min(m, n)` places,
    /// `u` and `vt` are as [`Vectors`] has them (empty for `No`). Neither `m` nor `n` may be 0,
    /// and `a` must be finite. Returns LAPACK's `info`, positive where it did not converge.
    fn gesdd(
        vectors: Vectors,
        shape: (Int, Int),
        a: &mut [Self],
        s: &mut [Self::Real],
        u: &mut [Self],
        vt: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Int;
}

/// Lengths of `work`, real workspace and integers that are enough whatever the LAPACK's version:
/// the documented minima of all of them, complex matrices having less in `work`.
fn minimum(vectors: Vectors, m: Int, n: Int, complex: bool) -> (i128, i128, i128) {
    let (min, max) = (i128::from(m.min(n)), i128::from(m.max(n)));
    let work = match (vectors, complex) {
        (Vectors::No, false) => 3 * min + max.max(7 * min),
        (Vectors::No, true) => 2 * min + max,
        (_, false) => 4 * min * min + 7 * min + max,
        (_, true) => min * min + 3 * min + max,
    };
    let real = match (vectors, complex) {
        (_, false) => 0,
        (Vectors::No, true) => 7 * min,
        (_, true) => (5 * min * min + 7 * min).max(2 * max * min + 2 * min * min + min),
    };
    (work, real, 8 * min)
}

/// The sizes, if LAPACK can be asked for the best one without an overflow of its own.
fn sizes(
    vectors: Vectors,
    (m, n): (Int, Int),
    complex: bool,
    best: impl FnOnce() -> i128,
) -> Option<Sizes> {
    let (work, real, ints) = minimum(vectors, m, n, complex);
    // The largest of the sums that LAPACK forms, with blocked steps on all rows and columns.
    Sizes::new(
        work + (i128::from(m) + i128::from(n)) * BLOCK + i128::from(m.min(n)).pow(2),
        real,
        ints,
    )?;
    Sizes::new(work.max(best()), real, ints)
}

macro_rules! svd {
    ($scalar:ty, $sys:ident, $kind:ident) => {
        impl Svd for $scalar {
            fn gesdd_sizes(vectors: Vectors, m: Int, n: Int) -> Option<Sizes> {
                let complex = stringify!($kind) == "complex";
                sizes(vectors, (m, n), complex, || {
                    let (job, ldvt) = (vectors as u8, vectors.counts(m, n).1.max(1));
                    let (mut best, mut info) = ([Self::ZERO], 0);
                    let (mut s, mut nothing, mut none) = ([0.0], [Self::ZERO], [0]);
                    let nothing = nothing.as_mut_ptr();
                    // SAFETY: with a workspace of -1 the routine checks its arguments, which are
                    // good, and writes the best size to `best`.
                    unsafe {
                        call!($kind, sys::$sys::gesdd, {
                            letter(&job),
                            &m,
                            &n,
                            nothing,
                            &m,
                            s.as_mut_ptr(),
                            nothing,
                            &m,
                            nothing,
                            &ldvt,
                            best.as_mut_ptr(),
                            &-1,
                            complex: s.as_mut_ptr(),
                            none.as_mut_ptr(),
                            &mut info,
                            1,
                        });
                    }
                    told(best[0])
                })
            }

            fn gesdd(
                vectors: Vectors,
                (m, n): (Int, Int),
                a: &mut [Self],
                s: &mut [<Self as Element>::Real],
                u: &mut [Self],
                vt: &mut [Self],
                ws: &mut Workspace<Self>,
            ) -> Int {
                assert!(m > 0 && n > 0, "gesdd needs a matrix, got {m} x {n}");
                let (columns, rows) = vectors.counts(m, n);
                assert_eq!(a.len(), elements(m, n));
                assert_eq!(s.len(), m.min(n) as usize);
                assert_eq!(u.len(), elements(m, columns));
                assert_eq!(vt.len(), elements(rows, n));
                let complex = stringify!($kind) == "complex";
                let (work, real, ints) = minimum(vectors, m, n, complex);
                assert!(ws.work.len() as i128 >= work && ws.real.len() as i128 >= real);
                assert!(ws.ints.len() as i128 >= ints);
                let (job, ldvt, lwork) = (vectors as u8, rows.max(1), length(&ws.work));
                let mut info = 0;
                // SAFETY: matrices, singular values and workspaces have the lengths that the
                // routine's documentation asks for, checked above, with leading dimensions of
                // their own row counts: no argument is one that LAPACK refuses.
                unsafe {
                    call!($kind, sys::$sys::gesdd, {
                        letter(&job),
                        &m,
                        &n,
                        a.as_mut_ptr(),
                        &m,
                        s.as_mut_ptr(),
                        u.as_mut_ptr(),
                        &m,
                        vt.as_mut_ptr(),
                        &ldvt,
                        ws.work.as_mut_ptr(),
                        &lwork,
                        complex: ws.real.as_mut_ptr(),
                        ws.ints.as_mut_ptr(),
                        &mut info,
                        1,
                    });
                }
                info
            }
        }
    };
}
for_each_scalar!(svd);
