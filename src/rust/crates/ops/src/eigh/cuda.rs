//! Eigenvalues of a batch of Hermitian matrices.

use super::EighSolver;
use cuda::batched::count_of;
use cuda::guard::{Guard, NOT_FINITE};
use cuda::scratch::{self, arena, bytes, Work};
use cuda::{device, fill_mode, handles, job, sizes, status, Batch, Cuda, Element};
use matrices::{Matrices, Triangle};
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::{AnyBufferMut, Cx, Result};

/// Who says which algorithm is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sizes.
    Default,
    /// The caller: reduction to tridiagonal form, then divide and conquer.
    DivideAndConquer,
    /// The caller: Jacobi's.
    Jacobi,
}

/// `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V`. Only the triangle is read. `info` is 0, or
/// positive where it did not converge or the triangle has NaN or an infinity; then the results are
/// NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn syevd<T: Element>(
    batch: Batch<'_, '_>,
    (method, triangle): (Method, Triangle),
    a: *mut c_void,
    w: *mut c_void,
    info: Option<*mut c_void>,
) -> Result<()> {
    let (cx, shape) = batch;
    let infos = bytes(shape.count, size_of::<i32>())?;
    if shape.elements() == 0 || shape.count == 0 {
        return info.map_or(Ok(()), |info| device::clear(cx.platform(), info, infos));
    }
    let own_info = if info.is_some() { 0 } else { infos };
    let (guard, [own_info]) = Guard::new(batch, [own_info])?;
    let info = info.unwrap_or(own_info);
    guard.scan_triangle::<T>(batch, a, triangle)?;
    guard.scrub::<T>(batch, a)?;
    let small = shape.rows <= sizes::EIGH_JACOBI;
    match method {
        Method::Jacobi => jacobi::<T>(batch, triangle, a, w, info),
        Method::Default if small => jacobi::<T>(batch, triangle, a, w, info),
        _ => divide_and_conquer::<T>(batch, triangle, a, w, info),
    }?;
    guard.mark(batch, info, NOT_FINITE)?;
    guard.poison::<T>(batch, a, shape.elements(), Some(info))?;
    guard.poison::<T::Real>(batch, w, shape.rows as usize, Some(info))
}

/// One matrix, or all in one launch.
fn jacobi<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    a: *mut c_void,
    w: *mut c_void,
    info: *mut c_void,
) -> Result<()> {
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.syevj);
    let (n, count) = (shape.rows, count_of(shape.count)?);
    let (jobz, uplo) = (job(true), fill_mode(triangle));
    let (routine, its_size) = if count == 1 {
        ("syevj", "syevj_bufferSize")
    } else {
        ("syevjBatched", "syevjBatched_bufferSize")
    };
    let (length, work_bytes) = scratch::ask::<T>(its_size, |length| {
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
    let scratch = arena(cx, [work_bytes])?;
    let ([work], info) = (scratch.parts, info.cast());
    // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all, and as much
    // to work in as the routine asked for.
    let answer = unsafe {
        if count == 1 {
            (library.syevj[T::KIND])(handle, jobz, uplo, n, a, n, w, work, length, info, params)
        } else {
            (library.syevj_batched[T::KIND])(
                handle, jobz, uplo, n, a, n, w, work, length, info, params, count,
            )
        }
    };
    status::cusolver(routine, answer)
}

/// All at once where cuSOLVER can (from CUDA 12.6 on), else one after the other.
fn divide_and_conquer<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    a: *mut c_void,
    w: *mut c_void,
    info: *mut c_void,
) -> Result<()> {
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.params);
    let (n, jobz, uplo) = (i64::from(shape.rows), job(true), fill_mode(triangle));
    let (a_type, w_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    let at_once = match (library.xsyev_batched_size, library.xsyev_batched) {
        (Some(size), Some(run)) if shape.count > 1 => Some((size, run)),
        _ => None,
    };
    let count = shape.count as i64;
    let its_size = match at_once {
        Some(_) => "XsyevBatched_bufferSize",
        None => "Xsyevd_bufferSize",
    };
    let work = Work::ask(cx, its_size, |device, host| {
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            match at_once {
                Some((size, _)) => size(
                    handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device, host,
                    count,
                ),
                None => (library.xsyevd_size)(
                    handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device, host,
                ),
            }
        }
    })?;
    if let Some((_, run)) = at_once {
        // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all, and as
        // much to work in, here and there, as the routine asked for.
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
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                info.cast(),
                count,
            )
        };
        return status::cusolver("XsyevBatched", answer);
    }
    let parts = [
        (a, shape.elements() * size_of::<T>()),
        (w, shape.rows as usize * size_of::<T::Real>()),
        (info, size_of::<i32>()),
    ];
    device::each(shape.count, parts, |[a, w, info]| {
        // SAFETY: as above, of one matrix.
        let answer = unsafe {
            (library.xsyevd)(
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
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                info.cast(),
            )
        };
        status::cusolver("Xsyevd", answer)
    })
}

impl<T: Element> EighSolver<T> for Cuda {
    type Real = T::Real;

    fn eigh(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        triangle: Triangle,
        a: &mut AnyBufferMut<'_>,
        w: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let how = (Method::Default, triangle);
        syevd::<T>((cx, shape), how, a.as_mut_ptr(), w.as_mut_ptr(), None)
    }
}
