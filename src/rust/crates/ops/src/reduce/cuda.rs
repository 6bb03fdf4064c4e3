//! Tridiagonal form of a batch.

use cuda::guard;
use cuda::routines::tridiagonal::{self, Parts};
use cuda::{Batch, DeviceSliceMut, Element};
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
    mut parts: Parts<'_, T>,
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let shape = batch.1;
    guard::with_info(batch, Some(info), |mut guard, info| {
        let n = shape.rows as usize;
        guard.scan_triangle(batch, a.as_const(), triangle)?;
        guard.scrub(batch, a.reborrow())?;
        let Parts { d, e, tau } = &mut parts;
        let written = Parts {
            d: d.reborrow(),
            e: e.reborrow(),
            tau: tau.reborrow(),
        };
        tridiagonal::sytrd(batch, triangle, a.reborrow(), written, info)?;
        guard.poison(batch, a, shape.elements(), None)?;
        guard.poison(batch, parts.d, n, None)?;
        guard.poison(batch, parts.e, n - 1, None)?;
        guard.poison(batch, parts.tau, n - 1, None)
    })
}
