//! The routines, with what the numerical policy asks for before and after each.

use cuda::guard::{self, Guard, NOT_FINITE};
use cuda::routines::svd::{self, Form, Parts};
use cuda::scratch::Arena;
use cuda::{columns, device, sizes, Batch, DeviceSliceMut, Element};
use matrices::{Matrices, Vectors};
use xla_ffi::{AnyBufferMut, Result};

/// The results in device memory.
///
/// # Errors
/// An element type is another one.
pub(crate) fn parts<'a, T: Element>(
    s: &'a mut AnyBufferMut<'_>,
    u: &'a mut AnyBufferMut<'_>,
    v: &'a mut AnyBufferMut<'_>,
) -> Result<Parts<'a, T>> {
    Ok(Parts {
        s: DeviceSliceMut::of(s)?,
        u: DeviceSliceMut::of(u)?,
        v: DeviceSliceMut::of(v)?,
    })
}

/// Does `decompose` with what the policy asks for before and after it.
fn guarded<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    mut a: DeviceSliceMut<'_, T>,
    mut parts: Parts<'_, T>,
    mut info: DeviceSliceMut<'_, i32>,
    decompose: impl FnOnce(DeviceSliceMut<'_, T>, Parts<'_, T>, DeviceSliceMut<'_, i32>) -> Result<()>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (m, n, k) = shape.sizes();
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    if m == 0 || n == 0 || shape.count == 0 {
        let side = |order: i32, vectors: i32| Matrices {
            rows: order,
            cols: vectors,
            ..shape
        };
        // A matrix without elements has the first unit vectors for singular vectors.
        columns::fill_identity((cx, side(shape.rows, columns)), parts.u)?;
        columns::fill_identity((cx, side(shape.cols, rows)), parts.v)?;
        return device::clear(cx.platform(), info, shape.count);
    }
    let mut memory = Arena::new(cx, [guard::size(shape)?])?;
    let [flags] = memory.parts();
    let mut guard = Guard::new(batch, flags)?;
    guard.scan(batch, a.as_const(), shape.elements())?;
    guard.scrub(batch, a.reborrow())?;
    decompose(a, parts.reborrow(), info.reborrow())?;
    guard.mark(batch, info.reborrow(), NOT_FINITE)?;
    let info = Some(info.as_const());
    guard.poison(batch, parts.s, k, info)?;
    guard.poison(batch, parts.u, m * columns as usize, info)?;
    guard.poison(batch, parts.v, rows as usize * n, info)
}

fn kind(full: bool) -> Vectors {
    if full {
        Vectors::Full
    } else {
        Vectors::Thin
    }
}

/// By QR iteration: `a`, which has at least as many rows as columns, is overwritten; `v` is `Vᴴ`.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn gesvd<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    a: DeviceSliceMut<'_, T>,
    parts: Parts<'_, T>,
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    guarded(batch, vectors, a, parts, info, |a, parts, info| {
        svd::gesvd(batch, vectors, a, parts, info)
    })
}

/// By Jacobi's method: `a` is overwritten; `v` is `V`. There is memory at `u` and `v` also where no
/// vectors are asked for.
///
/// # Errors
/// As [`gesvd`](gesvd()).
pub(crate) fn gesvdj<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: DeviceSliceMut<'_, T>,
    parts: Parts<'_, T>,
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let shape = batch.1;
    if sizes::svd_in_blocks(shape, full) {
        let form = Form {
            vectors,
            full,
            adjoint: false,
        };
        return svd::in_blocks(batch, form, a.as_const(), parts, Some(info));
    }
    let larger = shape.rows.max(shape.cols);
    let at_once = full && shape.count > 1 && larger <= sizes::SVD_AT_ONCE;
    guarded(batch, kind(full), a, parts, info, |a, parts, info| {
        if at_once {
            svd::gesvdj_batched(batch, vectors, a, parts, info)
        } else {
            svd::gesvdj(batch, (vectors, full), a, parts, info)
        }
    })
}

/// By polar decomposition: `a` is overwritten; `v` is `V`. The only routine that makes the host wait:
/// cuSOLVER tells it how exact the result is.
///
/// # Errors
/// As [`gesvd`](gesvd()).
pub(crate) fn gesvdp<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: DeviceSliceMut<'_, T>,
    parts: Parts<'_, T>,
    info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    guarded(batch, kind(full), a, parts, info, |a, parts, info| {
        svd::gesvdp(batch, (vectors, full), a, parts, info)
    })
}
