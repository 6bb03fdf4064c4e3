//! Reductions of a batch.

use crate::platform::host::batch::{for_each, split};
use crate::platform::host::{reflect, workspace_sizes, Batch, HostScalar};
use lapack::routines;
use lapack::{refuse_negative, Padded, Workspace};
use matrices::{triangle_finite, Element, Triangle};
use xla_ffi::Result;

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`. Only the triangle is
/// read; one with NaN or an infinity gives NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn sytrd<T: HostScalar>(
    (cx, shape): Batch<'_>,
    triangle: Triangle,
    a: &mut [T],
    (d, e, tau): (&mut [T::Real], &mut [T::Real], &mut [T]),
) -> Result<()> {
    let (n, count) = (shape.rows as usize, shape.count);
    let sizes = workspace_sizes(routines::reduce_sizes(shape.rows), shape)?;
    if a.is_empty() {
        return Ok(());
    }
    let items = split(a, n * n, count)
        .zip(split(d, n, count))
        .zip(split(e, n - 1, count).zip(split(tau, n - 1, count)));
    let workspace = || Workspace::new(sizes);
    let flops = 2.0 * shape.flops();
    for_each(cx, flops, items, workspace, |ws, ((a, d), (e, tau))| {
        if !triangle_finite(a, n, triangle) {
            a.fill(T::NAN);
            d.fill(T::Real::NAN);
            e.fill(T::Real::NAN);
            tau.fill(T::NAN);
            return Ok(());
        }
        let mut a = Padded::new(a, shape.rows)?;
        let info = routines::sytrd(triangle, &mut a, (d, e, tau), ws);
        refuse_negative(info, "sytrd")
    })
}

/// `Qᴴ A Q` of Hessenberg form, the reflectors below it and in `tau`; `range` are the first and last
/// row, counted from 1, outside of which it has that form already. A matrix with NaN or an infinity
/// becomes NaN.
///
/// # Errors
/// As [`sytrd`].
pub fn gehrd<T: HostScalar>(
    (cx, shape): Batch<'_>,
    range: (i32, i32),
    a: &mut [T],
    tau: &mut [T],
) -> Result<()> {
    let (n, count) = (shape.rows as usize, shape.count);
    let sizes = workspace_sizes(routines::reduce_sizes(shape.rows), shape)?;
    if a.is_empty() {
        return Ok(());
    }
    let items = split(a, n * n, count).zip(split(tau, n - 1, count));
    let workspace = || Workspace::new(sizes);
    for_each(cx, 4.0 * shape.flops(), items, workspace, |ws, (a, tau)| {
        reflect("gehrd", a, tau, |a, tau| {
            routines::gehrd(shape.rows, range, a, tau, ws)
        })
    })
}
