//! By polar decomposition.

use super::parts::{kind, Operands, Places};
use crate::batched::one_by_one;
use crate::scratch::Work;
use crate::{handles, job, Batch, Element};
use std::ffi::c_int;
use xla_ffi::Result;

/// By polar decomposition, one matrix after the other; `v` is `V`. There is memory at `u` and `v`
/// also where no `vectors` are asked for. The only routine that makes the host wait: cuSOLVER tells
/// it how exact the result is.
///
/// # Errors
/// The [module's](crate::routines).
pub fn gesvdp<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (vectors, full): (bool, bool),
    mut operands: Operands<'_, T>,
) -> Result<()> {
    let (econ, jobz) = (c_int::from(!full), job(vectors));
    let (a, Places { s, u, v }, info) = operands.matrices(shape, kind(full))?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.params);
    let (m, n) = (i64::from(shape.rows), i64::from(shape.cols));
    let (t, s_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    let work = Work::ask(cx, "Xgesvdp_bufferSize", |device, host| {
        let (a, s, u, v) = (a.at(0), s.at(0), u.at(0), v.at(0));
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            (library.xgesvdp_size)(
                handle, params, jobz, econ, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t, device,
                host,
            )
        }
    })?;
    one_by_one(shape.count, "Xgesvdp", |i| {
        let mut error = 0.0;
        let (a, s, u, v, info) = (a.at(i), s.at(i), u.at(i), v.at(i), info.at(i).cast());
        let (space, bytes, host, more) = work.parts();
        // SAFETY: a matrix of that shape, room for its parts, and as much to work in, here and
        // there, as the routine asked for.
        unsafe {
            (library.xgesvdp)(
                handle, params, jobz, econ, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t, space,
                bytes, host, more, info, &mut error,
            )
        }
    })
}
