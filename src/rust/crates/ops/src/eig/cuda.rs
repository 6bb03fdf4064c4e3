//! Eigenvalues of a batch of general matrices.

use cuda::guard::{self, NOT_FINITE};
use cuda::routines::eig;
use cuda::{Batch, DeviceSliceMut, Element};
use xla_ffi::Result;

/// Eigenvalues `w` (complex) and, if `wanted`, left and right eigenvectors `vl` and `vr` (real ones
/// in pairs of columns, as LAPACK has them); `a` is overwritten. `info` is 0, or positive where the
/// iteration did not converge or the matrix has NaN or an infinity; then the results are NaN.
///
/// # Errors
/// A library is missing or refuses, cuSOLVER before CUDA 12.6 among them; there is no memory to
/// work in.
pub(crate) fn geev<T: Element>(
    batch: Batch<'_, '_>,
    wanted: (bool, bool),
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Complex>,
    (mut vl, mut vr): (DeviceSliceMut<'_, T>, DeviceSliceMut<'_, T>),
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let shape = batch.1;
    guard::with_info(batch, Some(info), |mut guard, mut info| {
        guard.scan(batch, a.as_const(), shape.elements())?;
        guard.scrub(batch, a.reborrow())?;
        eig::geev(
            batch,
            wanted,
            a,
            w.reborrow(),
            (vl.reborrow(), vr.reborrow()),
            info.reborrow(),
        )?;
        guard.mark(batch, info.reborrow(), NOT_FINITE)?;
        let info = info.as_const();
        guard.poison(batch, w, shape.rows as usize, Some(info))?;
        let vectors = [(wanted.0, vl), (wanted.1, vr)];
        for (_, v) in vectors.into_iter().filter(|(wanted, _)| *wanted) {
            guard.poison(batch, v, shape.elements(), Some(info))?;
        }
        Ok(())
    })
}
