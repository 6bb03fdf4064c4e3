//! Singular values by polar decomposition.

use super::{each, guarded, Parts};
use cuda::scratch::Work;
use cuda::{handles, job, status, Batch, Element};
use matrices::Vectors;
use std::ffi::{c_int, c_void};
use xla_ffi::Result;

/// By polar decomposition: `a` is overwritten; `v` is `V`. The only routine that makes the host wait:
/// cuSOLVER tells it how exact the result is.
///
/// # Errors
/// As [`gesvd`](super::gesvd()).
pub(crate) fn gesvdp<T: Element>(
    batch: Batch<'_, '_>,
    (vectors, full): (bool, bool),
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    let kind = if full { Vectors::Full } else { Vectors::Thin };
    let jobz = job(vectors);
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
        let Parts { s, u, v, .. } = parts;
        let work = Work::ask(cx, "Xgesvdp_bufferSize", |device, host| {
            // SAFETY: only the sizes are written; the operands are not looked at.
            unsafe {
                (library.xgesvdp_size)(
                    handle, params, jobz, econ, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t,
                    device, host,
                )
            }
        })?;
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
                    work.device,
                    work.device_bytes,
                    work.host,
                    work.host_bytes,
                    info.cast(),
                    &mut sigma_error,
                )
            };
            status::cusolver("Xgesvdp", answer)
        })
    })
}
