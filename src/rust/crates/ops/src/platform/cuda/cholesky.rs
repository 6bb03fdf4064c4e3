//! Cholesky factorisation of a batch.

use super::guard::{self, Guard};
use super::lu::{addresses_bytes, count_of, list_addresses, work_bytes};
use super::scratch::{arena, bytes};
use super::{device, fill_mode, handles, sizes, status, Batch, Element};
use crate::platform::Triangle;
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::Result;

/// What `info` is for a matrix with NaN or an infinity: no minor is positive definite.
const NOT_FINITE: u64 = 1;

/// The Cholesky factor in place of the triangle; the other triangle is not of interest. `info` is 0,
/// or the order of the first minor that is not positive definite. A matrix whose triangle has NaN or
/// an infinity becomes NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn potrf<T: Element>(
    batch: Batch<'_, '_>,
    triangle: Triangle,
    a: *mut c_void,
    info: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, n, uplo) = (cx.platform(), shape.rows, fill_mode(triangle));
    if shape.elements() == 0 || shape.count == 0 {
        return device::clear(cuda, info, bytes(shape.count, size_of::<i32>())?);
    }
    let matrix_bytes = bytes(shape.elements(), size_of::<T>())?;
    let solver = handles::solver(cuda)?;
    let finish = |guard: Guard| {
        guard.poison::<T>(batch, a, shape.elements(), None)?;
        guard.mark(batch, info, NOT_FINITE)
    };
    if sizes::cholesky_at_once(shape) {
        let scratch = arena(cx, [guard::bytes(shape), addresses_bytes(shape.count)?])?;
        let [flags, addresses] = scratch.parts;
        let guard = Guard::new(batch, flags)?;
        guard.scan_triangle::<T>(batch, a, triangle)?;
        list_addresses(cx, addresses, a, matrix_bytes, shape.count)?;
        let count = count_of(shape.count)?;
        // SAFETY: addresses of `count` matrices of `n` rows and as many infos, in the device's
        // memory.
        let answer = unsafe {
            (solver.library.potrf_batched[T::KIND])(
                solver.handle,
                uplo,
                n,
                addresses.cast(),
                n,
                info.cast(),
                count,
            )
        };
        status::cusolver("potrfBatched", answer)?;
        return finish(guard);
    }
    let mut length: c_int = 0;
    // SAFETY: only the length is written; the matrix is not looked at.
    let answer =
        unsafe { (solver.library.potrf_size[T::KIND])(solver.handle, uplo, n, a, n, &mut length) };
    status::cusolver("potrf_bufferSize", answer)?;
    let scratch = arena(cx, [guard::bytes(shape), work_bytes::<T>(length)?])?;
    let [flags, work] = scratch.parts;
    let guard = Guard::new(batch, flags)?;
    guard.scan_triangle::<T>(batch, a, triangle)?;
    for i in 0..shape.count {
        // SAFETY: a matrix of `n` rows and its info, as much to work in as the routine asked for.
        let answer = unsafe {
            (solver.library.potrf[T::KIND])(
                solver.handle,
                uplo,
                n,
                device::at(a, i, matrix_bytes),
                n,
                work,
                length,
                device::at(info, i, size_of::<i32>()).cast(),
            )
        };
        status::cusolver("potrf", answer)?;
    }
    finish(guard)
}
