//! LU factorisation of a batch.

use super::LuSolver;
use crate::platform::{Call, Results};
use cuda::guard;
use cuda::routines::lu::{self, Panel};
use cuda::small::{self, Small};
use cuda::{device, sizes, Batch, Changed, Cuda, DeviceSliceMut, Element};
use xla_ffi::{AnyBuffer, Result};

/// `P A = L U` in place. `info` is 0, or the first column, counted from 1, where `U` has a zero on
/// its diagonal. A matrix with NaN or an infinity becomes NaN, its pivots 1, 2, ….
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn getrf<T: Element>(
    batch: Batch<'_, '_>,
    a: Changed<'_, T>,
    mut pivots: DeviceSliceMut<'_, i32>,
    info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.is_empty() {
        return device::clear_if_given(cx.platform(), info, shape.count);
    }
    if let Some(kernel) = Small::find::<T>(cx.platform(), &small::LU, shape) {
        return lu::small(batch, kernel, a, pivots, info);
    }
    let mut a = a.ready(cx, shape)?;
    if let Some(panel) = Panel::find::<T>(cx.platform(), shape)? {
        return lu::in_blocks(batch, panel, a, pivots, info);
    }
    guard::with_info(batch, info, |mut guard, mut info| {
        let elements = shape.elements();
        guard.scan(batch, a.as_const(), elements)?;
        guard.scrub(batch, a.reborrow())?;
        let factor = if sizes::lu_at_once(shape) {
            lu::getrf_batched
        } else {
            lu::getrf
        };
        factor(batch, a.reborrow(), pivots.reborrow(), info.reborrow())?;
        guard.poison(batch, a, elements, None)?;
        guard.keep_rows(batch, pivots)?;
        guard.mark(batch, info, 0)
    })
}

impl<T: Element> LuSolver<T> for Cuda {
    fn getrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        [lu, pivots]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let (a, pivots) = (Changed::<T>::new(a, lu)?, DeviceSliceMut::of(pivots)?);
        getrf(call, a, pivots, None)
    }
}
