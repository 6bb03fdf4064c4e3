//! The thin decomposition, its method chosen by the sizes, and its copies and transposes.

use super::{gesvd, gesvdj, jacobi, Parts};
use cuda::scratch::{arena, bytes};
use cuda::{columns, device, kernels, sizes, Batch, Element};
use matrices::{Matrices, Vectors};
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;
use xla_ffi::Result;

const TRANSPOSE: [&str; 4] = [
    "transpose_f32",
    "transpose_f64",
    "transpose_c64",
    "transpose_c128",
];
const ADJOINT: [&str; 4] = [
    "transpose_f32",
    "transpose_f64",
    "adjoint_c64",
    "adjoint_c128",
];

/// Writes to `to` the transposes of matrices of `part`'s shape, which begin `stride` elements apart.
fn turn(
    batch: Batch<'_, '_>,
    name: &'static str,
    to: *mut c_void,
    from: *const c_void,
    stride: usize,
) -> Result<()> {
    let (cx, part) = batch;
    let size = part.elements();
    let arguments = [
        to as u64,
        from as u64,
        size as u64,
        part.count as u64,
        part.rows as u64,
        stride as u64,
    ];
    kernels::launch(cx.platform(), name, (size, part.count), arguments)
}

/// The thin decomposition: `a` is left as it is, `vt` is `Vᴴ`.
///
/// # Errors
/// As [`gesvd()`].
pub(crate) fn thin<T: Element>(
    batch: Batch<'_, '_>,
    a: *const c_void,
    s: *mut c_void,
    u: *mut c_void,
    vt: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, count, k) = (cx.platform(), shape.count, shape.rank());
    if shape.elements() == 0 || count == 0 {
        return Ok(());
    }
    let of = |rows: i32, cols: i32| Matrices { rows, cols, count };
    let room = |part: Matrices| bytes(bytes(part.elements(), size_of::<T>())?, count);
    let (m, n) = (shape.rows, shape.cols);
    let infos = bytes(count, size_of::<i32>())?;
    let copied = room(shape)?;
    if sizes::svd_in_blocks(shape, true) {
        let parts = Parts {
            s,
            u,
            v: vt,
            info: ptr::null_mut(),
        };
        return jacobi::in_blocks::<T>(batch, (true, false, true), a, parts);
    }
    if k > sizes::SVD_JACOBI {
        return by_qr_iteration::<T>(batch, a, s, u, vt);
    }
    // For all at once there is no thin form.
    let full = count > 1 && m.max(n) <= sizes::SVD_AT_ONCE;
    let (columns, rows) = if full { (m, n) } else { (k, k) };
    let own_u = full && m > k;
    let u_room = if own_u { room(of(m, columns))? } else { 0 };
    let scratch = arena(cx, [copied, u_room, room(of(n, rows))?, infos])?;
    let [copy, wide_u, v, info] = scratch.parts;
    device::copy(cuda, copy, a, copied)?;
    let parts = Parts {
        s,
        u: if own_u { wide_u } else { u },
        v,
        info,
    };
    gesvdj::<T>(batch, (true, full), copy, parts)?;
    if own_u {
        columns::take::<T>((cx, of(m, k)), u, wide_u, of(m, columns).elements())?;
    }
    turn(
        (cx, of(n, k)),
        ADJOINT[T::KIND],
        vt,
        v,
        of(n, rows).elements(),
    )
}

/// As [`thin`]. A wide matrix is transposed first: `Aᵀ = conj(V) diag(s) Uᵀ`.
fn by_qr_iteration<T: Element>(
    batch: Batch<'_, '_>,
    a: *const c_void,
    s: *mut c_void,
    u: *mut c_void,
    vt: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let (count, k) = (shape.count, shape.rank());
    let of = |rows: i32, cols: i32| Matrices { rows, cols, count };
    let room = |part: Matrices| bytes(bytes(part.elements(), size_of::<T>())?, count);
    let infos = bytes(count, size_of::<i32>())?;
    let (m, n) = (shape.rows, shape.cols);
    let tall = shape.cols <= shape.rows;
    let turned = |part: Matrices| if tall { Ok(0) } else { room(part) };
    let scratch = arena(
        cx,
        [room(shape)?, turned(of(n, k))?, turned(of(k, m))?, infos],
    )?;
    let [copy, conj_v, ut, info] = scratch.parts;
    if tall {
        device::copy(cx.platform(), copy, a, room(shape)?)?;
        return gesvd::<T>(batch, Vectors::Thin, copy, Parts { s, u, v: vt, info });
    }
    let transpose = TRANSPOSE[T::KIND];
    turn(batch, transpose, copy, a, shape.elements())?;
    let parts = Parts {
        s,
        u: conj_v,
        v: ut,
        info,
    };
    gesvd::<T>((cx, shape.transposed()), Vectors::Thin, copy, parts)?;
    turn((cx, of(n, k)), transpose, vt, conj_v, of(n, k).elements())?;
    turn((cx, of(k, m)), transpose, u, ut, of(k, m).elements())
}
