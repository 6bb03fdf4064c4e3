//! Tridiagonal form of a batch.

use cuda::guard::{self, Guard};
use cuda::routines::tridiagonal;
use cuda::scratch::Arena;
use cuda::{device, Batch, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`. Only the triangle is
/// read; one with NaN or an infinity gives NaN. `info` is 0.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn sytrd<T: Element>(
    batch: Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    (mut d, mut e, mut tau): (
        DeviceSliceMut<'_, T::Real>,
        DeviceSliceMut<'_, T::Real>,
        DeviceSliceMut<'_, T>,
    ),
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.elements() == 0 || shape.count == 0 {
        return device::clear(cx.platform(), info, shape.count);
    }
    let n = shape.rows as usize;
    let mut memory = Arena::new(cx, [guard::size(shape)?])?;
    let [flags] = memory.parts();
    let mut guard = Guard::new(batch, flags)?;
    guard.scan_triangle(batch, a.as_const(), triangle)?;
    guard.scrub(batch, a.reborrow())?;
    let parts = (d.reborrow(), e.reborrow(), tau.reborrow());
    tridiagonal::sytrd(batch, triangle, a.reborrow(), parts, info)?;
    guard.poison(batch, a, shape.elements(), None)?;
    guard.poison(batch, d, n, None)?;
    guard.poison(batch, e, n - 1, None)?;
    guard.poison(batch, tau, n - 1, None)
}
