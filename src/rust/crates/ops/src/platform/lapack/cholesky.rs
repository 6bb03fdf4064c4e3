//! Cholesky factorisation of a batch.

use super::batch::{for_each, for_each_run, run_length, split};
use super::routines::Solve;
use super::small::cholesky::NOT_FINITE;
use super::{refuse_negative, small, triangle_finite, Batch, Precision, Triangle};
use xla_ffi::Result;

/// The Cholesky factor in place of the triangle; the other triangle is neither read nor written.
/// `info` is 0, or the order of the first minor that is not positive definite. A matrix whose
/// triangle has NaN or an infinity becomes NaN.
///
/// # Errors
/// There is no memory for a working copy.
pub fn potrf<T: Precision>(
    (cx, shape): Batch<'_>,
    triangle: Triangle,
    a: &mut [T],
    info: &mut [i32],
) -> Result<()> {
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let flops = shape.flops() / 3.0;
    if small::suits::<T>(shape, small::cholesky::MOST) {
        let run = run_length(flops);
        let n = shape.rows as usize;
        let runs = a.chunks_mut(run * n * n).zip(info.chunks_mut(run));
        for_each_run(cx, flops * shape.count as f64, runs, |(a, info)| {
            let count = info.len();
            T::in_lanes(
                small::cholesky::Potrf {
                    n,
                    triangle,
                    a,
                    info,
                },
                count,
            );
        });
        return Ok(());
    }
    let items = split(a, shape.elements(), shape.count).zip(info);
    for_each(
        cx,
        flops,
        items,
        || Ok(()),
        |(), (a, info)| {
            if !triangle_finite(a, shape.rows as usize, triangle) {
                a.fill(T::NAN);
                *info = NOT_FINITE;
                return Ok(());
            }
            *info = T::Work::potrf(triangle, shape.rows, &mut T::stage(a)?);
            refuse_negative(*info, "potrf")
        },
    )
}
