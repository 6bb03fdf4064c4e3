//! Cholesky factorisation of a batch.

use cuda::batched::{addresses_bytes, count_of, list_addresses};
use cuda::guard::{Guard, NOT_FINITE};
use cuda::scratch::{self, bytes};
use cuda::{device, fill_mode, handles, sizes, status, Batch, Element};
use matrices::Triangle;
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::Result;

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
    let finish = |guard: Guard<'_>| {
        guard.poison::<T>(batch, a, shape.elements(), None)?;
        guard.mark(batch, info, NOT_FINITE)
    };
    if sizes::cholesky_at_once(shape) {
        let (guard, [addresses]) = Guard::new(batch, [addresses_bytes(shape.count)?])?;
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
    let (length, work_bytes) = scratch::ask::<T>("potrf_bufferSize", |length| {
        // SAFETY: only the length is written; the matrix is not looked at.
        unsafe { (solver.library.potrf_size[T::KIND])(solver.handle, uplo, n, a, n, length) }
    })?;
    let (guard, [work]) = Guard::new(batch, [work_bytes])?;
    guard.scan_triangle::<T>(batch, a, triangle)?;
    let parts = [(a, matrix_bytes), (info, size_of::<i32>())];
    device::each(shape.count, parts, |[a, info]| {
        // SAFETY: a matrix of `n` rows and its info, as much to work in as the routine asked for.
        let answer = unsafe {
            (solver.library.potrf[T::KIND])(solver.handle, uplo, n, a, n, work, length, info.cast())
        };
        status::cusolver("potrf", answer)
    })?;
    finish(guard)
}
