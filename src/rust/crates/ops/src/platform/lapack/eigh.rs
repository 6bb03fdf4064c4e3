//! Eigenvalues of a batch of Hermitian matrices.

use super::batch::{for_each, split};
use super::routines::Eigh;
use super::workspace::{Sizes, Workspace};
use super::{refuse_negative, triangle_finite, Batch, Precision, Triangle};
use xla_ffi::Result;

/// What `info` is for a matrix with NaN or an infinity: none of its eigenvalues was found.
const NOT_FINITE: i32 = 1;

/// `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V` if `vectors`, else anything. Only the triangle
/// is read. `info` is 0, or positive where it did not converge or the triangle has NaN or an
/// infinity; then the results are NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn syevd<T: Precision>(
    (cx, shape): Batch<'_>,
    vectors: bool,
    triangle: Triangle,
    a: &mut [T],
    w: &mut [T::Real],
    info: &mut [i32],
) -> Result<()> {
    let n = shape.rows;
    let sizes = Sizes::or_too_large(T::Work::syevd_sizes(vectors, n), n, n)?;
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let items = split(a, shape.elements(), shape.count)
        .zip(split(w, n as usize, shape.count))
        .zip(info);
    for_each(
        cx,
        5.0 * shape.flops(),
        items,
        || Workspace::new(sizes),
        |ws, ((a, w), info)| {
            *info = NOT_FINITE;
            if triangle_finite(a, n as usize, triangle) {
                let (mut a, mut w) = (T::stage(a)?, T::Real::stage(w)?);
                *info = T::Work::syevd(vectors, triangle, &mut a, &mut w, ws);
                refuse_negative(*info, "syevd")?;
            }
            if *info != 0 {
                a.fill(T::NAN);
                w.fill(T::Real::NAN);
            }
            Ok(())
        },
    )
}
