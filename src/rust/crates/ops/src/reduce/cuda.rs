//! Tridiagonal form of a batch.

use cuda::guard::Guard;
use cuda::scratch::{self, bytes};
use cuda::{device, fill_mode, handles, status, Batch, Element};
use matrices::Triangle;
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::Result;

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`. Only the triangle is
/// read; one with NaN or an infinity gives NaN. `info` is 0.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
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
