//! QR factorisation with column pivoting of a batch.

use crate::platform::host::batch::{for_each, split};
use crate::platform::host::{workspace_sizes, Batch, HostScalar};
use lapack::routines;
use lapack::{refuse_negative, Workspace};
use matrices::all_finite;
use xla_ffi::Result;

/// `A P = Q R` in place, as `geqrf`; `jpvt` says, in and out, which columns come first, counted
/// from 1. A matrix with NaN or an infinity becomes NaN, its columns staying where they are.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn geqp3<T: HostScalar>(
    (cx, shape): Batch<'_>,
    a: &mut [T],
    jpvt: &mut [i32],
    tau: &mut [T],
) -> Result<()> {
    let sizes = workspace_sizes(routines::geqp3_sizes(shape.cols), shape)?;
    let (columns, rank) = (shape.cols as usize, shape.rank() as usize);
    if a.is_empty() {
        for jpvt in jpvt.chunks_exact_mut(columns.max(1)) {
            jpvt.iter_mut().zip(1..).for_each(|(p, j)| *p = j);
        }
        return Ok(());
    }
    let items = split(a, shape.elements(), shape.count)
        .zip(split(jpvt, columns, shape.count))
        .zip(split(tau, rank, shape.count));
    let workspace = || Workspace::new(sizes);
    let flops = 2.0 * shape.flops();
    for_each(cx, flops, items, workspace, |ws, ((a, jpvt), tau)| {
        if !all_finite(a) {
            a.fill(T::NAN);
            tau.fill(T::NAN);
            jpvt.iter_mut().zip(1..).for_each(|(p, j)| *p = j);
            return Ok(());
        }
        let info = routines::geqp3((shape.rows, shape.cols), a, jpvt, tau, ws);
        refuse_negative(info, "geqp3")
    })
}
