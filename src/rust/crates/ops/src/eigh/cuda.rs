//! Eigenvalues of a batch of Hermitian matrices.

use super::EighSolver;
use crate::platform::{Call, Results};
use cuda::eigh::InBlocks;
use cuda::guard::{self, NOT_FINITE};
use cuda::routines::eigh;
use cuda::small::{self, Small};
use cuda::{sizes, Batch, Changed, Cuda, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::{AnyBuffer, Result};

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
    a: Changed<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let (cx, shape) = batch;
    if method == Method::Default {
        if let Some(kernel) = Small::find::<T>(cx.platform(), &small::EIGH, shape) {
            return eigh::small(batch, (kernel, triangle), a, w, info);
        }
        if let Some(kernel) = InBlocks::find::<T>(cx.platform(), shape) {
            return eigh::in_blocks(batch, (kernel, triangle), a, w, info);
        }
    }
    let mut a = a.ready(cx, shape)?;
    let few = shape.rows <= sizes::EIGH_JACOBI;
    let method = match method {
        Method::Jacobi => eigh::Method::Jacobi,
        Method::Default if few => eigh::Method::Jacobi,
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

    fn eigh(
        call: Call<'_, '_, Self>,
        (a, uplo): (&AnyBuffer<'_>, Triangle),
        [v, w]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let how = (Method::Default, uplo);
        let (a, w) = (Changed::<T>::new(a, v)?, DeviceSliceMut::of(w)?);
        syevd(call, how, a, w, None)
    }
}
