//! Cholesky factorisation of a batch.

use cuda::guard::{self, NOT_FINITE};
use cuda::routines::cholesky;
use cuda::{sizes, Batch, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// The Cholesky factor in place of the triangle; the other triangle is not of interest. `info` is 0,
/// or the order of the first minor that is not positive definite. A matrix whose triangle has NaN or
/// an infinity becomes NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn potrf<T: Element>(
    batch: Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let shape = batch.1;
    guard::with_info(batch, Some(info), |mut guard, mut info| {
        guard.scan_triangle(batch, a.as_const(), triangle)?;
        let factor = if sizes::cholesky_at_once(shape) {
            cholesky::potrf_batched
        } else {
            cholesky::potrf
        };
        factor(batch, triangle, a.reborrow(), info.reborrow())?;
        guard.poison(batch, a, shape.elements(), None)?;
        guard.mark(batch, info, NOT_FINITE)
    })
}
