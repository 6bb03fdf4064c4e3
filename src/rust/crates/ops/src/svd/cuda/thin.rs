//! The thin decomposition, its method chosen by the sizes, and its copies and transposes.

use super::guarded::{gesvd, gesvdj};
use cuda::routines::svd::{self, Form, Operands, Parts};
use cuda::scratch::{bytes, Arena};
use cuda::small::{self, Small};
use cuda::{columns, device, sizes, Batch, DeviceSlice, Element};
use matrices::{Matrices, Vectors};
use std::mem::size_of;
use xla_ffi::Result;

/// The thin decomposition: `a` is left as it is, `v` is `Vᴴ`.
///
/// # Errors
/// As [`gesvd()`].
pub(crate) fn thin<T: Element>(
    batch: Batch<'_, '_>,
    a: DeviceSlice<'_, T>,
    parts: Parts<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, count, k) = (cx.platform(), shape.count, shape.rank());
    if shape.is_empty() {
        return Ok(());
    }
    let of = |rows: i32, cols: i32| Matrices { rows, cols, count };
    let bytes_of = |part: Matrices| bytes(bytes(part.elements(), size_of::<T>())?, count);
    let (m, n) = (shape.rows, shape.cols);
    let form = Form {
        vectors: true,
        full: false,
        adjoint: true,
    };
    if let Some(kernel) = Small::find::<T>(cuda, &small::SVD, shape) {
        return svd::small(batch, (kernel, form), a, parts, None);
    }
    if sizes::svd_in_blocks(shape, true, T::PRECISION) {
        return svd::in_blocks(batch, form, a, parts, None);
    }
    if k > sizes::SVD_JACOBI {
        return by_qr_iteration(batch, a, parts);
    }
    // For all at once there is no thin form.
    let full = count > 1 && m.max(n) <= sizes::SVD_AT_ONCE;
    let (columns, rows) = if full { (m, n) } else { (k, k) };
    let own_u = full && m > k;
    let u_bytes = if own_u { bytes_of(of(m, columns))? } else { 0 };
    let infos = bytes(count, size_of::<i32>())?;
    let sizes = [bytes_of(shape)?, u_bytes, bytes_of(of(n, rows))?, infos];
    let mut scratch = Arena::new(cx, sizes)?;
    let [copy, wide_u, v, info] = scratch.parts();
    let (mut copy, mut wide_u, mut v) = (copy.of::<T>(), wide_u.of::<T>(), v.of::<T>());
    device::copy(cuda, copy.reborrow(), a, shape.elements() * count)?;
    let Parts {
        s,
        mut u,
        v: adjoint,
    } = parts;
    let to_u = if own_u { &mut wide_u } else { &mut u };
    let wide = Parts {
        s,
        u: to_u.reborrow(),
        v: v.reborrow(),
    };
    let operands = Operands {
        a: copy,
        parts: wide,
        info: info.of(),
    };
    gesvdj(batch, (true, full), operands)?;
    if own_u {
        let whole = of(m, columns).elements();
        columns::take((cx, of(m, k)), u, wide_u.as_const(), whole)?;
    }
    let whole = of(n, rows).elements();
    columns::transpose((cx, of(n, k)), true, adjoint, v.as_const(), whole)
}

/// As [`thin`]. A wide matrix is transposed first: `Aᵀ = conj(V) diag(s) Uᵀ`.
fn by_qr_iteration<T: Element>(
    batch: Batch<'_, '_>,
    a: DeviceSlice<'_, T>,
    parts: Parts<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (count, k) = (shape.count, shape.rank());
    let of = |rows: i32, cols: i32| Matrices { rows, cols, count };
    let bytes_of = |part: Matrices| bytes(bytes(part.elements(), size_of::<T>())?, count);
    let (m, n) = (shape.rows, shape.cols);
    let tall = shape.cols <= shape.rows;
    let turned = |part: Matrices| if tall { Ok(0) } else { bytes_of(part) };
    let infos = bytes(count, size_of::<i32>())?;
    let sizes = [
        bytes_of(shape)?,
        turned(of(n, k))?,
        turned(of(k, m))?,
        infos,
    ];
    let mut scratch = Arena::new(cx, sizes)?;
    let [copy, conj_v, ut, info] = scratch.parts();
    let (mut copy, info) = (copy.of::<T>(), info.of());
    if tall {
        let elements = shape.elements() * count;
        device::copy(cx.platform(), copy.reborrow(), a, elements)?;
        return gesvd(
            batch,
            Vectors::Thin,
            Operands {
                a: copy,
                parts,
                info,
            },
        );
    }
    columns::transpose(batch, false, copy.reborrow(), a, shape.elements())?;
    let (mut conj_v, mut ut) = (conj_v.of::<T>(), ut.of::<T>());
    let turned = Parts {
        s: parts.s,
        u: conj_v.reborrow(),
        v: ut.reborrow(),
    };
    let transposed = (cx, shape.transposed());
    let operands = Operands {
        a: copy,
        parts: turned,
        info,
    };
    gesvd(transposed, Vectors::Thin, operands)?;
    let (of_v, of_u) = (of(n, k), of(k, m));
    columns::transpose(
        (cx, of_v),
        false,
        parts.v,
        conj_v.as_const(),
        of_v.elements(),
    )?;
    columns::transpose((cx, of_u), false, parts.u, ut.as_const(), of_u.elements())
}
