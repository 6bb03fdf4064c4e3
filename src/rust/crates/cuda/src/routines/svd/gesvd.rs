//! By QR iteration.

use super::parts::{Operands, Places};
use crate::batched::one_by_one;
use crate::scratch::Work;
use crate::{handles, Batch, Element};
use matrices::Vectors;
use std::ffi::c_schar;
use xla_ffi::{Error, Result};

/// By QR iteration, one matrix after the other, each with at least as many rows as columns; `v` is
/// `Vᴴ`.
///
/// # Errors
/// The [module's](crate::routines).
pub fn gesvd<T: Element>(
    (cx, shape): Batch<'_, '_>,
    vectors: Vectors,
    mut operands: Operands<'_, T>,
) -> Result<()> {
    if shape.rows < shape.cols {
        return Err(Error::internal("a wide matrix for cuSOLVER's gesvd"));
    }
    let letter = match vectors {
        Vectors::Full => b'A',
        Vectors::Thin => b'S',
        Vectors::No => b'N',
    } as c_schar;
    let (a, Places { s, u, v }, info) = operands.matrices(shape, vectors)?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.params);
    let (m, n) = (i64::from(shape.rows), i64::from(shape.cols));
    let (t, s_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    let work = Work::ask(cx, "Xgesvd_bufferSize", |device, host| {
        let (a, s, u, v) = (a.at(0), s.at(0), u.at(0), v.at(0));
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            (library.xgesvd_size)(
                handle, params, letter, letter, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t,
                device, host,
            )
        }
    })?;
    one_by_one(shape.count, "Xgesvd", |i| {
        let (a, s, u, v, info) = (a.at(i), s.at(i), u.at(i), v.at(i), info.at(i).cast());
        let (space, bytes, host, more) = work.parts();
        // SAFETY: a matrix of that shape, room for its parts, and as much to work in, here and
        // there, as the routine asked for.
        unsafe {
            (library.xgesvd)(
                handle, params, letter, letter, m, n, t, a, m, s_type, s, t, u, m, t, v, n, t,
                space, bytes, host, more, info,
            )
        }
    })
}
