//! Singular values by QR iteration.

use super::{each, guarded, Parts};
use cuda::scratch::Work;
use cuda::{handles, status, Batch, Element};
use matrices::Vectors;
use std::ffi::{c_schar, c_void};
use xla_ffi::Result;

/// By QR iteration: `a`, which has at least as many rows as columns, is overwritten; `v` is `Vᴴ`.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn gesvd<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    a: *mut c_void,
    parts: Parts,
) -> Result<()> {
    let letter = match vectors {
        Vectors::Full => b'A',
        Vectors::Thin => b'S',
        Vectors::No => b'N',
    } as c_schar;
    guarded::<T>(batch, vectors, a, parts, || {
        let (cx, shape) = batch;
        let solver = handles::solver(cx.platform())?;
        let (library, handle, params) = (solver.library, solver.handle, solver.params);
        let (m, n) = (i64::from(shape.rows), i64::from(shape.cols));
        let (t, s_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
        let Parts { s, u, v, .. } = parts;
        let work = Work::ask(cx, "Xgesvd_bufferSize", |device, host| {
            // SAFETY: only the sizes are written; the operands are not looked at.
            unsafe {
                (library.xgesvd_size)(
                    handle, params, letter, letter, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t,
                    device, host,
                )
            }
        })?;
        each::<T>(shape, vectors, a, parts, |a, Parts { s, u, v, info }| {
            // SAFETY: a matrix of that shape, room for its parts, and as much to work in, here and
            // there, as the routine asked for.
            let answer = unsafe {
                (library.xgesvd)(
                    handle,
                    params,
                    letter,
                    letter,
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
                )
            };
            status::cusolver("Xgesvd", answer)
        })
    })
}
