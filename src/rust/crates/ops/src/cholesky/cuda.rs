//! Cholesky factorisation of a batch.

use cuda::guard::{self, Guard, NOT_FINITE};
use cuda::routines::cholesky;
use cuda::scratch::Arena;
use cuda::{device, sizes, Batch, DeviceSliceMut, Element};
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
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.elements() == 0 || shape.count == 0 {
        return device::clear(cx.platform(), info, shape.count);
    }
    let mut memory = Arena::new(cx, [guard::size(shape)?])?;
    let [flags] = memory.parts();
    let mut guard = Guard::new(batch, flags)?;
    guard.scan_triangle(batch, a.as_const(), triangle)?;
    let factor = if sizes::cholesky_at_once(shape) {
        cholesky::potrf_batched
    } else {
        cholesky::potrf
    };
    factor(batch, triangle, a.reborrow(), info.reborrow())?;
    guard.poison(batch, a, shape.elements(), None)?;
    guard.mark(batch, info, NOT_FINITE)
}
