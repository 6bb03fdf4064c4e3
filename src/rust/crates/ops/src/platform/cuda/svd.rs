//! Singular values of a batch.

use super::guard::{self, Guard};
use super::lu::{count_of, work_bytes};
use super::scratch::{arena, bytes, HostWork};
use super::{device, handles, kernels, sizes, status, Batch, Element, NO_VECTORS, VECTORS};
use crate::platform::{Matrices, Vectors};
use std::ffi::{c_int, c_schar, c_void};
use std::mem::size_of;
use xla_ffi::Result;

/// What `info` is for a matrix with NaN or an infinity.
const NOT_FINITE: u64 = 1;

/// The results of a decomposition. `v` is `V` or `Vᴴ`, as the routine says.
#[derive(Clone, Copy)]
pub struct Parts {
    /// Singular values, descending.
    pub s: *mut c_void,
    /// Left singular vectors.
    pub u: *mut c_void,
    /// Right singular vectors.
    pub v: *mut c_void,
    /// 0, or positive where there is no result.
    pub info: *mut c_void,
}

/// Does `decompose` with what the policy asks for before and after it.
fn guarded<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    a: *mut c_void,
    parts: Parts,
    decompose: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (m, n, count) = (shape.rows as usize, shape.cols as usize, shape.count);
    let (columns, rows) = counts(shape, vectors);
    if m == 0 || n == 0 || count == 0 {
        let side = |order: i32, vectors: usize| Matrices {
            rows: order,
            cols: vectors as i32,
            count,
        };
        // A matrix without elements has the first unit vectors for singular vectors.
        if columns * m > 0 {
            super::qr::fill_identity::<T>((cx, side(shape.rows, columns)), parts.u)?;
        }
        if rows * n > 0 {
            super::qr::fill_identity::<T>((cx, side(shape.cols, rows)), parts.v)?;
        }
        return device::clear(cx.platform(), parts.info, bytes(count, size_of::<i32>())?);
    }
    let scratch = arena(cx, [guard::bytes(shape)])?;
    let [flags] = scratch.parts;
    let guard = Guard::new(batch, flags)?;
    guard.scan::<T>(batch, a, shape.elements())?;
    guard.scrub::<T>(batch, a)?;
    decompose()?;
    guard.mark(batch, parts.info, NOT_FINITE)?;
    let info = Some(parts.info);
    guard.poison::<T::Real>(batch, parts.s, m.min(n), info)?;
    guard.poison::<T>(batch, parts.u, m * columns, info)?;
    guard.poison::<T>(batch, parts.v, rows * n, info)
}

/// Columns of `U` and of `V`.
fn counts(shape: Matrices, vectors: Vectors) -> (usize, usize) {
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    (columns as usize, rows as usize)
}

fn job(vectors: Vectors) -> c_int {
    if vectors == Vectors::No {
        NO_VECTORS
    } else {
        VECTORS
    }
}

/// By QR iteration: `a`, which has at least as many rows as columns, is overwritten; `v` is `Vᴴ`.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn gesvd<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    let letter = match vectors {
        Vectors::Full => b'A',
        Vectors::Thin => b'S',
        Vectors::No => b'N',
    } as c_schar;
    guarded::<T>(batch, vectors, a, parts, || {
        let (cx, shape) = batch;
        let solver = handles::solver(cx.platform())?;
        let (library, handle, params) = (solver.library, solver.handle, solver.params);
        let (m, n) = (i64::from(shape.rows), i64::from(shape.cols));
        let (t, s_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
        let (mut on_device, mut on_host) = (0, 0);
        let Parts { s, u, v, .. } = parts;
        // SAFETY: only the sizes are written; the operands are not looked at.
        let answer = unsafe {
            (library.xgesvd_size)(
                handle,
                params,
                letter,
                letter,
                m,
                n,
                t,
                a,
                m,
                s_type,
                s,
                t,
                u,
                m,
                t,
                v,
                n,
                t,
                &mut on_device,
                &mut on_host,
            )
        };
        status::cusolver("Xgesvd_bufferSize", answer)?;
        let scratch = arena(cx, [on_device])?;
        let [device] = scratch.parts;
        let mut host = HostWork::new(on_host)?;
        let host = host.as_mut_ptr();
        each::<T>(shape, vectors, a, parts, |a, Parts { s, u, v, info }| {
            // SAFETY: a matrix of that shape, room for its parts, and as much to work in, here and
            // there, as the routine asked for.
            let answer = unsafe {
                (library.xgesvd)(
                    handle,
                    params,
                    letter,
                    letter,
                    m,
                    n,
                    t,
                    a,
                    m,
                    s_type,
                    s,
                    t,
                    u,
                    m,
                    t,
                    v,
                    n,
                    t,
                    device,
                    on_device,
                    host,
                    on_host,
                    info.cast(),
                )
            };
            status::cusolver("Xgesvd", answer)
        })
    })
}

/// By Jacobi's method: `a` is overwritten; `v` is `V`. There is memory at `u` and `v` also where no
/// vectors are asked for.
///
/// # Errors
/// As [`gesvd`].
pub(crate) fn gesvdj<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    let kind = if full { Vectors::Full } else { Vectors::Thin };
    let jobz = job(if vectors { kind } else { Vectors::No });
    guarded::<T>(batch, kind, a, parts, || {
        let (cx, shape) = batch;
        let solver = handles::solver(cx.platform())?;
        let (library, handle, params) = (solver.library, solver.handle, solver.gesvdj);
        let (m, n, econ) = (shape.rows, shape.cols, c_int::from(!full));
        let Parts { s, u, v, info } = parts;
        let mut length: c_int = 0;
        if full && shape.count > 1 && m.max(n) <= sizes::SVD_AT_ONCE {
            let count = count_of(shape.count)?;
            // SAFETY: only the length is written; the operands are not looked at.
            let answer = unsafe {
                (library.gesvdj_batched_size[T::KIND])(
                    handle,
                    jobz,
                    m,
                    n,
                    a,
                    m,
                    s,
                    u,
                    m,
                    v,
                    n,
                    &mut length,
                    params,
                    count,
                )
            };
            status::cusolver("gesvdjBatched_bufferSize", answer)?;
            let scratch = arena(cx, [work_bytes::<T>(length)?])?;
            let [work] = scratch.parts;
            // SAFETY: `count` matrices of that shape, room for all their parts, as much to work in
            // as the routine asked for.
            let answer = unsafe {
                (library.gesvdj_batched[T::KIND])(
                    handle,
                    jobz,
                    m,
                    n,
                    a,
                    m,
                    s,
                    u,
                    m,
                    v,
                    n,
                    work,
                    length,
                    info.cast(),
                    params,
                    count,
                )
            };
            return status::cusolver("gesvdjBatched", answer);
        }
        // SAFETY: only the length is written; the operands are not looked at.
        let answer = unsafe {
            (library.gesvdj_size[T::KIND])(
                handle,
                jobz,
                econ,
                m,
                n,
                a,
                m,
                s,
                u,
                m,
                v,
                n,
                &mut length,
                params,
            )
        };
        status::cusolver("gesvdj_bufferSize", answer)?;
        let scratch = arena(cx, [work_bytes::<T>(length)?])?;
        let [work] = scratch.parts;
        each::<T>(shape, kind, a, parts, |a, Parts { s, u, v, info }| {
            // SAFETY: a matrix of that shape, room for its parts, as much to work in as the routine
            // asked for.
            let answer = unsafe {
                (library.gesvdj[T::KIND])(
                    handle,
                    jobz,
                    econ,
                    m,
                    n,
                    a,
                    m,
                    s,
                    u,
                    m,
                    v,
                    n,
                    work,
                    length,
                    info.cast(),
                    params,
                )
            };
            status::cusolver("gesvdj", answer)
        })
    })
}

/// By polar decomposition: `a` is overwritten; `v` is `V`. The only routine that makes the host wait:
/// cuSOLVER tells it how exact the result is.
///
/// # Errors
/// As [`gesvd`].
pub(crate) fn gesvdp<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    let kind = if full { Vectors::Full } else { Vectors::Thin };
    let jobz = job(if vectors { kind } else { Vectors::No });
    guarded::<T>(batch, kind, a, parts, || {
        let (cx, shape) = batch;
        let solver = handles::solver(cx.platform())?;
        let (library, handle, params) = (solver.library, solver.handle, solver.params);
        let (m, n, econ) = (
            i64::from(shape.rows),
            i64::from(shape.cols),
            c_int::from(!full),
        );
        let (t, s_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
        let (mut on_device, mut on_host) = (0, 0);
        let Parts { s, u, v, .. } = parts;
        // SAFETY: only the sizes are written; the operands are not looked at.
        let answer = unsafe {
            (library.xgesvdp_size)(
                handle,
                params,
                jobz,
                econ,
                m,
                n,
                t,
                a,
                m,
                s_type,
                s,
                t,
                u,
                m,
                t,
                v,
                n,
                t,
                &mut on_device,
                &mut on_host,
            )
        };
        status::cusolver("Xgesvdp_bufferSize", answer)?;
        let scratch = arena(cx, [on_device])?;
        let [device] = scratch.parts;
        let mut host = HostWork::new(on_host)?;
        let host = host.as_mut_ptr();
        each::<T>(shape, kind, a, parts, |a, Parts { s, u, v, info }| {
            let mut sigma_error = 0.0;
            // SAFETY: a matrix of that shape, room for its parts, and as much to work in, here and
            // there, as the routine asked for.
            let answer = unsafe {
                (library.xgesvdp)(
                    handle,
                    params,
                    jobz,
                    econ,
                    m,
                    n,
                    t,
                    a,
                    m,
                    s_type,
                    s,
                    t,
                    u,
                    m,
                    t,
                    v,
                    n,
                    t,
                    device,
                    on_device,
                    host,
                    on_host,
                    info.cast(),
                    &mut sigma_error,
                )
            };
            status::cusolver("Xgesvdp", answer)
        })
    })
}

/// Calls `f` with each matrix and its parts.
fn each<T: Element>(
    shape: Matrices,
    vectors: Vectors,
    a: *mut c_void,
    Parts { s, u, v, info }: Parts,
    f: impl Fn(*mut c_void, Parts) -> Result<()>,
) -> Result<()> {
    let (m, n) = (shape.rows as usize, shape.cols as usize);
    let (columns, rows) = counts(shape, vectors);
    let element = size_of::<T>();
    (0..shape.count).try_for_each(|i| {
        let parts = Parts {
            s: device::at(s, i, m.min(n) * size_of::<T::Real>()),
            u: device::at(u, i, m * columns * element),
            v: device::at(v, i, n * rows * element),
            info: device::at(info, i, size_of::<i32>()),
        };
        f(device::at(a, i, shape.elements() * element), parts)
    })
}

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
/// As [`gesvd`].
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
        take_columns::<T>((cx, of(m, k)), u, wide_u, of(m, columns).elements())?;
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

/// The first columns of matrices that begin `stride` elements apart.
///
/// # Errors
/// As [`kernels::launch`].
pub(super) fn take_columns<T: Element>(
    (cx, part): Batch<'_, '_>,
    to: *mut c_void,
    from: *const c_void,
    stride: usize,
) -> Result<()> {
    let words = size_of::<T>() / size_of::<u32>();
    let size = part.elements() * words;
    let arguments = [
        to as u64,
        from as u64,
        size as u64,
        part.count as u64,
        (stride * words) as u64,
    ];
    kernels::launch(cx.platform(), "take_front", (size, part.count), arguments)
}
