//! Cholesky factorisation.

use crate::batched::{address_lists, count_of, list_addresses, one_by_one};
use crate::routines::order;
use crate::scratch::Elements;
use crate::{fill_mode, handles, status, Batch, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// The factor in place of the triangle, all matrices at once; `info` as LAPACK has it.
///
/// # Errors
/// The [module's](super).
pub fn potrf_batched<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let n = order(shape)?;
    let a = a.matrices("a", shape.count, shape.elements())?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let mut addresses = address_lists::<1>(cx, shape.count)?;
    let [addresses] = addresses.parts();
    let addresses = list_addresses(cx, addresses.of(), &a)?;
    let count = count_of(shape.count)?;
    // SAFETY: addresses of `count` matrices of `n` rows and as many infos, in the device's memory.
    let answer = unsafe {
        (solver.library.potrf_batched[T::KIND])(
            solver.handle,
            fill_mode(triangle),
            n,
            addresses,
            n,
            info.at(0).cast(),
            count,
        )
    };
    status::cusolver("potrfBatched", answer)
}

/// The same, one matrix after the other.
///
/// # Errors
/// The [module's](super).
pub fn potrf<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (n, uplo) = (order(shape)?, fill_mode(triangle));
    let a = a.matrices("a", shape.count, shape.elements())?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let work = Elements::ask::<T>(cx, "potrf_bufferSize", |length| {
        // SAFETY: only the length is written; the matrix is not looked at.
        unsafe { (solver.library.potrf_size[T::KIND])(solver.handle, uplo, n, a.at(0), n, length) }
    })?;
    let handle = solver.handle;
    one_by_one(shape.count, "potrf", |i| {
        let (a, info) = (a.at(i), info.at(i).cast());
        let (space, length, _) = work.parts();
        // SAFETY: a matrix of `n` rows and its info, as much to work in as the routine asked for.
        unsafe { (solver.library.potrf[T::KIND])(handle, uplo, n, a, n, space, length, info) }
    })
}
