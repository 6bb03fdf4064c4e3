//! The routines, with what the numerical policy asks for before and after each.

use cuda::guard::{self, NOT_FINITE};
use cuda::routines::svd::{self, Form, Operands, Parts};
use cuda::small::{self, Small};
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
    operands: Operands<'_, T>,
    decompose: impl FnOnce(Operands<'_, T>) -> Result<()>,
) -> Result<()> {
    let (cx, shape) = batch;
    let Operands {
        mut a,
        mut parts,
        mut info,
    } = operands;
    let (m, n, k) = shape.sizes();
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    if shape.is_empty() {
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
    guard::with(batch, |mut guard| {
        guard.scan(batch, a.as_const(), shape.elements())?;
        guard.scrub(batch, a.reborrow())?;
        decompose(Operands {
            a,
            parts: parts.reborrow(),
            info: info.reborrow(),
        })?;
        guard.mark(batch, info.reborrow(), NOT_FINITE)?;
        let info = Some(info.as_const());
        guard.poison(batch, parts.s, k, info)?;
        guard.poison(batch, parts.u, m * columns as usize, info)?;
        guard.poison(batch, parts.v, rows as usize * n, info)
    })
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
    operands: Operands<'_, T>,
) -> Result<()> {
    guarded(batch, vectors, operands, |operands| {
        svd::gesvd(batch, vectors, operands)
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
    operands: Operands<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    let form = Form {
        vectors,
        full,
        adjoint: false,
    };
    if let Some(kernel) = Small::find::<T>(cx.platform(), &small::SVD, shape) {
        let Operands { a, parts, info } = operands;
        return svd::small(batch, (kernel, form), a.as_const(), parts, Some(info));
    }
    if sizes::svd_in_blocks(shape, full, T::PRECISION) {
        let Operands { a, parts, info } = operands;
        return svd::in_blocks(batch, form, a.as_const(), parts, Some(info));
    }
    let larger = shape.rows.max(shape.cols);
    let at_once = full && shape.count > 1 && larger <= sizes::SVD_AT_ONCE;
    guarded(batch, kind(full), operands, |operands| {
        if at_once {
            svd::gesvdj_batched(batch, vectors, operands)
        } else {
            svd::gesvdj(batch, (vectors, full), operands)
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
    operands: Operands<'_, T>,
) -> Result<()> {
    guarded(batch, kind(full), operands, |operands| {
        svd::gesvdp(batch, (vectors, full), operands)
    })
}
