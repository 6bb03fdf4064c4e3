//! Singular values of a batch by the QR algorithm.

use super::host::{parts, sizes, Triplets};
use crate::platform::host::batch::{for_each, split, Cost};
use crate::platform::host::{Batch, HostScalar};
use lapack::routines;
use lapack::Workspace;
use matrices::Vectors;
use xla_ffi::Result;

/// As [`gesdd`](super::svd::gesdd).
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn gesvd<T: HostScalar>(
    batch: Batch<'_>,
    vectors: Vectors,
    a: &mut [T],
    (s, u, vt): Triplets<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    let (cx, shape) = batch;
    let (m, n) = (shape.rows, shape.cols);
    let sizes = sizes(batch, vectors, routines::gesvd_sizes::<T>)?;
    let Some(parts) = parts(batch, vectors, s, u, vt, info) else {
        return Ok(());
    };
    let rows = (m, vectors.counts(m, n).1);
    let items = split(a, shape.elements(), shape.count).zip(parts);
    let workspace = || Workspace::new(sizes);
    let cost = Cost::of_spectrum(10.0 * shape.flops());
    for_each(cx, cost, items, workspace, |ws, (a, parts)| {
        parts.fill("gesvd", rows, a, |a, s, factors| {
            routines::gesvd(vectors, (m, n), a, s, factors, ws)
        })
    })
}
