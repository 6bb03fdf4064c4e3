//! Singular values by Jacobi's method.

use super::{each, guarded, jacobi, Parts};
use cuda::batched::count_of;
use cuda::scratch::{self, arena};
use cuda::{handles, job, sizes, status, Batch, Element};
use matrices::Vectors;
use std::ffi::{c_int, c_void};
use xla_ffi::Result;

/// By Jacobi's method: `a` is overwritten; `v` is `V`. There is memory at `u` and `v` also where no
/// vectors are asked for.
///
/// # Errors
/// As [`gesvd`](super::gesvd()).
pub(crate) fn gesvdj<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    if sizes::svd_in_blocks(batch.1, full) {
        return jacobi::in_blocks::<T>(batch, (vectors, full, false), a, parts);
    }
    let kind = if full { Vectors::Full } else { Vectors::Thin };
    let jobz = job(vectors);
    guarded::<T>(batch, kind, a, parts, || {
        let (cx, shape) = batch;
        let solver = handles::solver(cx.platform())?;
        let (library, handle, params) = (solver.library, solver.handle, solver.gesvdj);
        let (m, n, econ) = (shape.rows, shape.cols, c_int::from(!full));
        let Parts { s, u, v, info } = parts;
        if full && shape.count > 1 && m.max(n) <= sizes::SVD_AT_ONCE {
            let count = count_of(shape.count)?;
            let (length, work_bytes) = scratch::ask::<T>("gesvdjBatched_bufferSize", |length| {
                // SAFETY: only the length is written; the operands are not looked at.
                unsafe {
                    (library.gesvdj_batched_size[T::KIND])(
                        handle, jobz, m, n, a, m, s, u, m, v, n, length, params, count,
                    )
                }
            })?;
            let scratch = arena(cx, [work_bytes])?;
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
        let (length, work_bytes) = scratch::ask::<T>("gesvdj_bufferSize", |length| {
            // SAFETY: only the length is written; the operands are not looked at.
            unsafe {
                (library.gesvdj_size[T::KIND])(
                    handle, jobz, econ, m, n, a, m, s, u, m, v, n, length, params,
                )
            }
        })?;
        let scratch = arena(cx, [work_bytes])?;
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
