//! QR factorisation of a batch, and products with `Q`.

use super::QrSolver;
use crate::platform::MemoryAccess;
use cuda::batched::{addresses_bytes, count_of, list_addresses};
use cuda::guard::Guard;
use cuda::kernels::Blocks;
use cuda::scratch::{self, bytes};
use cuda::{columns, device, handles, kernels, sizes, status, Batch, Cuda, Element};
use matrices::Matrices;
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

/// `A = Q R` in place: `R` on and above the diagonal, the reflectors of `Q` below it and in `tau`.
/// A matrix with NaN or an infinity becomes NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn geqrf<T: Element>(
    batch: Batch<'_, '_>,
    a: *mut c_void,
    tau: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, m, n) = (cx.platform(), shape.rows, shape.cols);
    if shape.elements() == 0 || shape.count == 0 {
        return Ok(());
    }
    let matrix_bytes = bytes(shape.elements(), size_of::<T>())?;
    let tau_bytes = shape.rank() as usize * size_of::<T>();
    let finish = |guard: Guard<'_>| {
        guard.poison::<T>(batch, a, shape.elements(), None)?;
        guard.poison::<T>(batch, tau, shape.rank() as usize, None)
    };
    if sizes::qr_at_once(shape) {
        let addresses = addresses_bytes(shape.count)?;
        let (guard, [matrices, factors]) = Guard::new(batch, [addresses, addresses])?;
        guard.scan::<T>(batch, a, shape.elements())?;
        list_addresses(cx, matrices, a, matrix_bytes, shape.count)?;
        list_addresses(cx, factors, tau, tau_bytes, shape.count)?;
        let blas = handles::blas(cuda)?;
        let count = count_of(shape.count)?;
        // Blames an argument; there is nothing to wait for.
        let mut info: c_int = 0;
        // SAFETY: addresses of `count` matrices of that shape and of their factors in the device's
        // memory; `info` is the host's.
        let answer = unsafe {
            (blas.library.geqrf_batched[T::KIND])(
                blas.handle,
                m,
                n,
                matrices as *const *mut c_void,
                m,
                factors as *const *mut c_void,
                &mut info,
                count,
            )
        };
        status::cublas("geqrfBatched", answer)?;
        return finish(guard);
    }
    let solver = handles::solver(cuda)?;
    let (length, work_bytes) = scratch::ask::<T>("geqrf_bufferSize", |length| {
        // SAFETY: only the length is written; the matrix is not looked at.
        unsafe { (solver.library.geqrf_size[T::KIND])(solver.handle, m, n, a, m, length) }
    })?;
    let (guard, [info, work]) = Guard::new(batch, [size_of::<i32>(), work_bytes])?;
    guard.scan::<T>(batch, a, shape.elements())?;
    let parts = [(a, matrix_bytes), (tau, tau_bytes)];
    device::each(shape.count, parts, |[a, tau]| {
        // SAFETY: a matrix of that shape and its factors, as much to work in as the routine asked
        // for.
        let answer = unsafe {
            (solver.library.geqrf[T::KIND])(
                solver.handle,
                m,
                n,
                a,
                m,
                tau,
                work,
                length,
                info.cast(),
            )
        };
        status::cusolver("geqrf", answer)
    })?;
    finish(guard)
}

const COLUMNS: [&str; 4] = [
    "columns_of_q_f32",
    "columns_of_q_f64",
    "columns_of_q_c64",
    "columns_of_q_c128",
];
const LONG_COLUMNS: [&str; 4] = [
    "long_columns_of_q_f32",
    "long_columns_of_q_f64",
    "long_columns_of_q_c64",
    "long_columns_of_q_c128",
];

/// The columns of `Q` in place of the reflectors in `a`, whose `tau` has `reflectors` places per
/// matrix; `reflectors <= cols <= rows`. A matrix whose operands have NaN or an infinity becomes
/// NaN.
///
/// # Errors
/// As [`geqrf`].
pub(crate) fn orgqr<T: Element>(
    batch: Batch<'_, '_>,
    reflectors: usize,
    a: *mut c_void,
    tau: *const c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, m, n) = (cx.platform(), shape.rows, shape.cols);
    if shape.elements() == 0 || shape.count == 0 {
        return Ok(());
    }
    if reflectors == 0 {
        return columns::fill_identity::<T>(batch, a);
    }
    let (used, elements) = (m as usize * reflectors, shape.elements());
    let matrix_bytes = bytes(elements, size_of::<T>())?;
    // `tau` as matrices of one column.
    let factors = Matrices {
        rows: reflectors as i32, // at most `cols`
        cols: 1,
        count: shape.count,
    };
    let scan = |guard: &Guard<'_>| {
        guard.scan::<T>(batch, a, used)?;
        guard.scan::<T>((cx, factors), tau, reflectors)
    };
    if sizes::columns_at_once(shape) {
        let all = bytes(matrix_bytes, shape.count)?;
        let (guard, [packed]) = Guard::new(batch, [all])?;
        scan(&guard)?;
        device::copy(cuda, packed, a, all)?;
        let arguments = [
            a as u64,
            packed as u64,
            tau as u64,
            n as u64,
            shape.count as u64,
            m as u64,
            reflectors as u64,
        ];
        let columns = n as usize;
        if sizes::columns_by_threads(shape) {
            let sizes = (columns, shape.count);
            kernels::launch(cuda, COLUMNS[T::KIND], sizes, arguments)?;
        } else {
            let blocks = Blocks {
                count: (columns * shape.count).div_ceil(sizes::COLUMN_WARPS),
                warps: sizes::COLUMN_WARPS,
                shared: 0,
            };
            kernels::launch_blocks(cuda, LONG_COLUMNS[T::KIND], blocks, arguments)?;
        }
        return guard.poison::<T>(batch, a, elements, None);
    }
    let solver = handles::solver(cuda)?;
    let k = factors.rows;
    let (length, work_bytes) = scratch::ask::<T>("orgqr_bufferSize", |length| {
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe { (solver.library.orgqr_size[T::KIND])(solver.handle, m, n, k, a, m, tau, length) }
    })?;
    let (guard, [info, work]) = Guard::new(batch, [size_of::<i32>(), work_bytes])?;
    scan(&guard)?;
    let tau_bytes = reflectors * size_of::<T>();
    let parts = [(a, matrix_bytes), (tau.cast_mut(), tau_bytes)];
    device::each(shape.count, parts, |[a, tau]| {
        // SAFETY: a matrix of that shape and its `k` factors, as much to work in as the routine
        // asked for.
        let answer = unsafe {
            (solver.library.orgqr[T::KIND])(
                solver.handle,
                m,
                n,
                k,
                a,
                m,
                tau,
                work,
                length,
                info.cast(),
            )
        };
        status::cusolver("orgqr", answer)
    })?;
    guard.poison::<T>(batch, a, elements, None)
}

/// `CUBLAS_OP_N`, and the adjoint: `CUBLAS_OP_T` for real elements, `CUBLAS_OP_C` for complex ones.
const PLAIN: c_int = 0;
const ADJOINT: [c_int; 2] = [1, 2];

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ`, in place of `c` (of the batch's shape); `a`
/// and `tau` hold `reflectors` columns and factors per matrix. NaN or an infinity in any of them
/// makes all of that `c` NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn ormqr<T: Element>(
    batch: Batch<'_, '_>,
    (left, adjoint): (bool, bool),
    (a, tau, reflectors): (*const c_void, *const c_void, i32),
    c: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.elements() == 0 || shape.count == 0 || reflectors == 0 {
        return Ok(());
    }
    let (m, n, k) = (shape.rows, shape.cols, reflectors);
    let order = if left { m } else { n };
    let side = c_int::from(!left);
    let operation = if adjoint {
        ADJOINT[T::SHIFT as usize]
    } else {
        PLAIN
    };
    let part = |rows: i32, cols: i32| Matrices {
        rows,
        cols,
        ..shape
    };
    let (of_a, of_tau) = (part(order, k), part(k, 1));
    let solver = handles::solver(cx.platform())?;
    let (length, work_bytes) = scratch::ask::<T>("ormqr_bufferSize", |length| {
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe {
            (solver.library.ormqr_size[T::KIND])(
                solver.handle,
                side,
                operation,
                m,
                n,
                k,
                a,
                order,
                tau,
                c,
                m,
                length,
            )
        }
    })?;
    let (guard, [info, work]) = Guard::new(batch, [size_of::<i32>(), work_bytes])?;
    guard.scan::<T>((cx, of_a), a, of_a.elements())?;
    guard.scan::<T>((cx, of_tau), tau, of_tau.elements())?;
    guard.scan::<T>(batch, c, shape.elements())?;
    let each =
        |data: *const c_void, part: Matrices| (data.cast_mut(), part.elements() * size_of::<T>());
    let parts = [each(a, of_a), each(tau, of_tau), each(c, shape)];
    device::each(shape.count, parts, |[a, tau, c]| {
        // SAFETY: reflectors, factors and a matrix of these shapes, as much to work in as the
        // routine asked for.
        let answer = unsafe {
            (solver.library.ormqr[T::KIND])(
                solver.handle,
                side,
                operation,
                m,
                n,
                k,
                a,
                order,
                tau,
                c,
                m,
                work,
                length,
                info.cast(),
            )
        };
        status::cusolver("ormqr", answer)
    })?;
    guard.poison::<T>(batch, c, shape.elements(), None)
}

impl<T: Element> QrSolver<T> for Cuda {
    fn geqrf(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        tau: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        geqrf::<T>((cx, shape), a.as_mut_ptr(), tau.as_mut_ptr())
    }

    fn copy_columns(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        from: &AnyBuffer<'_>,
        cols: i32,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        if cols == shape.cols {
            return Self::copy(cx, from, to);
        }
        let part = Matrices { cols, ..shape };
        let from = device::argument(from)?;
        columns::take::<T>((cx, part), to.as_mut_ptr(), from, shape.elements())
    }

    fn orgqr(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        reflectors: usize,
        a: &mut AnyBufferMut<'_>,
        tau: &AnyBuffer<'_>,
    ) -> Result<()> {
        let tau = device::argument(tau)?;
        orgqr::<T>((cx, shape), reflectors, a.as_mut_ptr(), tau)
    }
}
