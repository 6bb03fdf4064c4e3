//! By Jacobi's method.

use super::parts::{kind, Operands, Places};
use crate::batched::{count_of, in_parts, one_by_one};
use crate::scratch::Elements;
use crate::{handles, job, sizes, status, Batch, Element};
use matrices::Vectors;
use std::ffi::c_int;
use xla_ffi::{Error, Result};

/// By Jacobi's method, as many matrices at once as possible; `v` is `V`, and there are all vectors. There is memory
/// at `u` and `v` also where no `vectors` are asked for.
///
/// # Errors
/// The [module's](crate::routines); there are more than [`sizes::SVD_AT_ONCE`] rows or columns.
pub fn gesvdj_batched<T: Element>(
    (cx, shape): Batch<'_, '_>,
    vectors: bool,
    mut operands: Operands<'_, T>,
) -> Result<()> {
    let (m, n, jobz) = (shape.rows, shape.cols, job(vectors));
    if m.max(n) > sizes::SVD_AT_ONCE {
        let text = format!("{m} x {n} matrices for cuSOLVER's gesvdjBatched");
        return Err(Error::internal(text));
    }
    let (a, Places { s, u, v }, info) = operands.matrices(shape, Vectors::Full)?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.gesvdj);
    let most = sizes::jacobi_part(shape.elements());
    in_parts(shape.count, most, |first, count| {
        let (a, info) = (a.at(first), info.at(first).cast());
        let (s, u, v) = (s.at(first), u.at(first), v.at(first));
        let count = count_of(count)?;
        let work = Elements::ask::<T>(cx, "gesvdjBatched_bufferSize", |length| {
            // SAFETY: only the length is written; the operands are not looked at.
            unsafe {
                (library.gesvdj_batched_size[T::KIND])(
                    handle, jobz, m, n, a, m, s, u, m, v, n, length, params, count,
                )
            }
        })?;
        let (space, length) = (work.device, work.length);
        // SAFETY: `count` matrices of that shape, room for all their parts, as much to work in as
        // the routine asked for.
        let answer = unsafe {
            (library.gesvdj_batched[T::KIND])(
                handle, jobz, m, n, a, m, s, u, m, v, n, space, length, info, params, count,
            )
        };
        status::cusolver("gesvdjBatched", answer)
    })
}

/// By Jacobi's method, one matrix after the other, all vectors or the first ones. The rest is as
/// with [`gesvdj_batched`].
///
/// # Errors
/// The [module's](crate::routines).
pub fn gesvdj<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (vectors, full): (bool, bool),
    mut operands: Operands<'_, T>,
) -> Result<()> {
    let (m, n, econ, jobz) = (shape.rows, shape.cols, c_int::from(!full), job(vectors));
    let (a, Places { s, u, v }, info) = operands.matrices(shape, kind(full))?;
    let solver = handles::solver(cx.platform())?;
    let (library, handle, params) = (solver.library, solver.handle, solver.gesvdj);
    let work = Elements::ask::<T>(cx, "gesvdj_bufferSize", |length| {
        let (a, s, u, v) = (a.at(0), s.at(0), u.at(0), v.at(0));
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe {
            (library.gesvdj_size[T::KIND])(
                handle, jobz, econ, m, n, a, m, s, u, m, v, n, length, params,
            )
        }
    })?;
    one_by_one(shape.count, "gesvdj", |i| {
        let (a, s, u, v, info) = (a.at(i), s.at(i), u.at(i), v.at(i), info.at(i).cast());
        let (space, length, _) = work.parts();
        // SAFETY: a matrix of that shape, room for its parts, as much to work in as the routine
        // asked for.
        unsafe {
            (library.gesvdj[T::KIND])(
                handle, jobz, econ, m, n, a, m, s, u, m, v, n, space, length, info, params,
            )
        }
    })
}
