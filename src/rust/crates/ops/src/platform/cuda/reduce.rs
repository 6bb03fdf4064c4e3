//! Products with `Q` and tridiagonal form, of a batch.

use super::guard::Guard;
use super::scratch::{self, bytes};
use super::{device, fill_mode, handles, status, Batch, Element};
use crate::platform::{Matrices, Triangle};
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::Result;

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

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`. Only the triangle is
/// read; one with NaN or an infinity gives NaN. `info` is 0.
///
/// # Errors
/// As [`ormqr`].
pub(crate) fn sytrd<T: Element>(
    batch: Batch<'_, '_>,
    triangle: Triangle,
    a: *mut c_void,
    (d, e, tau): (*mut c_void, *mut c_void, *mut c_void),
    info: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let infos = bytes(shape.count, size_of::<i32>())?;
    if shape.elements() == 0 || shape.count == 0 {
        return device::clear(cx.platform(), info, infos);
    }
    let (n, uplo) = (shape.rows, fill_mode(triangle));
    let beside = n as usize - 1;
    let solver = handles::solver(cx.platform())?;
    let (length, work_bytes) = scratch::ask::<T>("sytrd_bufferSize", |length| {
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe {
            (solver.library.sytrd_size[T::KIND])(solver.handle, uplo, n, a, n, d, e, tau, length)
        }
    })?;
    let (guard, [work]) = Guard::new(batch, [work_bytes])?;
    guard.scan_triangle::<T>(batch, a, triangle)?;
    guard.scrub::<T>(batch, a)?;
    let parts = [
        (a, shape.elements() * size_of::<T>()),
        (d, n as usize * size_of::<T::Real>()),
        (e, beside * size_of::<T::Real>()),
        (tau, beside * size_of::<T>()),
        (info, size_of::<i32>()),
    ];
    device::each(shape.count, parts, |[a, d, e, tau, info]| {
        // SAFETY: a matrix of `n` rows, its diagonals, factors and info, as much to work in as the
        // routine asked for.
        let answer = unsafe {
            (solver.library.sytrd[T::KIND])(
                solver.handle,
                uplo,
                n,
                a,
                n,
                d,
                e,
                tau,
                work,
                length,
                info.cast(),
            )
        };
        status::cusolver("sytrd", answer)
    })?;
    guard.poison::<T>(batch, a, shape.elements(), None)?;
    guard.poison::<T::Real>(batch, d, n as usize, None)?;
    guard.poison::<T::Real>(batch, e, beside, None)?;
    guard.poison::<T>(batch, tau, beside, None)
}
