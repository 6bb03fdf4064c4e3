//! Eigenvalues of Hermitian matrices: `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V`, `info` is as
//! LAPACK has it.

use crate::batched::{count_of, in_parts};
use crate::routines::order;
use crate::scratch::{Elements, Work};
use crate::{fill_mode, handles, job, sizes, status, Batch, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// By Jacobi's method: one matrix, or as many as possible in one launch.
///
/// # Errors
/// The [module's](super).
pub fn jacobi<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let n = order(shape)?;
    let a = a.matrices("a", shape.count, shape.elements())?;
    let w = w.matrices("w", shape.count, n as usize)?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.syevj);
    let (jobz, uplo) = (job(true), fill_mode(triangle));
    let most = sizes::jacobi_part(shape.elements());
    in_parts(shape.count, most, |first, count| {
        let (a, w, info) = (a.at(first), w.at(first), info.at(first).cast());
        let count = count_of(count)?;
        let (routine, its_size) = if count == 1 {
            ("syevj", "syevj_bufferSize")
        } else {
            ("syevjBatched", "syevjBatched_bufferSize")
        };
        let work = Elements::ask::<T>(cx, its_size, |length| {
            // SAFETY: only the length is written; the operands are not looked at.
            unsafe {
                if count == 1 {
                    (library.syevj_size[T::KIND])(handle, jobz, uplo, n, a, n, w, length, params)
                } else {
                    (library.syevj_batched_size[T::KIND])(
                        handle, jobz, uplo, n, a, n, w, length, params, count,
                    )
                }
            }
        })?;
        let (room, length) = (work.device, work.length);
        // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all, and as
        // much to work in as the routine asked for.
        let answer = unsafe {
            if count == 1 {
                (library.syevj[T::KIND])(handle, jobz, uplo, n, a, n, w, room, length, info, params)
            } else {
                (library.syevj_batched[T::KIND])(
                    handle, jobz, uplo, n, a, n, w, room, length, info, params, count,
                )
            }
        };
        status::cusolver(routine, answer)
    })
}

/// By reduction to tridiagonal form, then divide and conquer: as many at once as cuSOLVER can (from
/// CUDA 12.6 on), else one after the other.
///
/// # Errors
/// The [module's](super).
pub fn divide_and_conquer<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let rows = order(shape)?;
    let a = a.matrices("a", shape.count, shape.elements())?;
    let w = w.matrices("w", shape.count, rows as usize)?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.params);
    let (n, jobz, uplo) = (i64::from(rows), job(true), fill_mode(triangle));
    let (a_type, w_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    let most = sizes::eigh_part(rows);
    if let (Some(size), Some(run)) = (library.xsyev_batched_size, library.xsyev_batched) {
        if shape.count > 1 && most > 1 {
            return in_parts(shape.count, most, |first, count| {
                let (a, w, info) = (a.at(first), w.at(first), info.at(first).cast());
                let count = count as i64; // at most `most`
                let work = Work::ask(cx, "XsyevBatched_bufferSize", |device, host| {
                    // SAFETY: only the sizes are written; the operands are not looked at.
                    unsafe {
                        size(
                            handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device,
                            host, count,
                        )
                    }
                })?;
                // CUDA 12.6's takes for granted that it is: other matrices' vectors come out.
                work.clear(cx)?;
                let (device, host) = (work.device, work.host);
                // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all,
                // and as much to work in, here and there, as the routine asked for.
                let answer = unsafe {
                    run(
                        handle,
                        params,
                        jobz,
                        uplo,
                        n,
                        a_type,
                        a,
                        n,
                        w_type,
                        w,
                        a_type,
                        device,
                        work.device_bytes,
                        host,
                        work.host_bytes,
                        info,
                        count,
                    )
                };
                status::cusolver("XsyevBatched", answer)
            });
        }
    }
    let work = Work::ask(cx, "Xsyevd_bufferSize", |device, host| {
        let (a, w) = (a.at(0), w.at(0));
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            (library.xsyevd_size)(
                handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device, host,
            )
        }
    })?;
    (0..shape.count).try_for_each(|i| {
        // SAFETY: as above, of one matrix.
        let answer = unsafe {
            (library.xsyevd)(
                handle,
                params,
                jobz,
                uplo,
                n,
                a_type,
                a.at(i),
                n,
                w_type,
                w.at(i),
                a_type,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                info.at(i).cast(),
            )
        };
        status::cusolver("Xsyevd", answer)
    })
}
