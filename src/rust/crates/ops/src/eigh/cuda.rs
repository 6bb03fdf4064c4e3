//! Eigenvalues of a batch of Hermitian matrices.

use super::EighSolver;
use crate::platform::{Call, Results};
use cuda::guard::{self, NOT_FINITE};
use cuda::routines::eigh;
use cuda::{sizes, Batch, Cuda, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// Who says which algorithm is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sizes.
    Default,
    /// The caller: reduction to tridiagonal form, then divide and conquer.
    DivideAndConquer,
    /// The caller: Jacobi's.
    Jacobi,
}

/// `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V`. Only the triangle is read. `info` is 0, or
/// positive where it did not converge or the triangle has NaN or an infinity; then the results are
/// NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn syevd<T: Element>(
    batch: Batch<'_, '_>,
    (method, triangle): (Method, Triangle),
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let shape = batch.1;
    let small = shape.rows <= sizes::EIGH_JACOBI;
    let method = match method {
        Method::Jacobi => eigh::Method::Jacobi,
        Method::Default if small => eigh::Method::Jacobi,
        _ => eigh::Method::DivideAndConquer,
    };
    let how = (method, triangle);
    guard::with_info(batch, info, |mut guard, mut info| {
        guard.scan_triangle(batch, a.as_const(), triangle)?;
        guard.scrub(batch, a.reborrow())?;
        eigh::decompose(batch, how, a.reborrow(), w.reborrow(), info.reborrow())?;
        guard.mark(batch, info.reborrow(), NOT_FINITE)?;
        let info = Some(info.as_const());
        guard.poison(batch, a, shape.elements(), info)?;
        guard.poison(batch, w, shape.rows as usize, info)
    })
}

impl<T: Element> EighSolver<T> for Cuda {
    type Real = T::Real;

    fn eigh(call: Call<'_, '_, Self>, uplo: Triangle, [a, w]: Results<'_, '_, 2>) -> Result<()> {
        let how = (Method::Default, uplo);
        let (a, w) = (DeviceSliceMut::<T>::of(a)?, DeviceSliceMut::of(w)?);
        syevd(call, how, a, w, None)
    }
}
