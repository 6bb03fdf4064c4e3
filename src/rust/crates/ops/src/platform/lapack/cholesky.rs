//! Cholesky factorisation of a batch.

use super::batch::{for_each, split};
use super::routines::Solve;
use super::{refuse_negative, triangle_finite, Batch, Precision, Triangle};
use xla_ffi::Result;

/// What `info` is for a matrix with NaN or an infinity: no minor is positive definite.
const NOT_FINITE: i32 = 1;

/// The Cholesky factor in place of the triangle; the other triangle is neither read nor written.
/// `info` is 0, or the order of the first minor that is not positive definite. A matrix whose
/// triangle has NaN or an infinity becomes NaN.
///
/// # Errors
/// There is no memory for a working copy.
pub fn potrf<T: Precision>(
    (cx, shape): Batch<'_>,
    triangle: Triangle,
    a: &mut [T],
    info: &mut [i32],
) -> Result<()> {
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let items = split(a, shape.elements(), shape.count).zip(info);
    for_each(
        cx,
        shape.flops() / 3.0,
        items,
        || Ok(()),
        |(), (a, info)| {
            if !triangle_finite(a, shape.rows as usize, triangle) {
                a.fill(T::NAN);
                *info = NOT_FINITE;
                return Ok(());
            }
            *info = T::Work::potrf(triangle, shape.rows, &mut T::stage(a)?);
            refuse_negative(*info, "potrf")
        },
    )
}
