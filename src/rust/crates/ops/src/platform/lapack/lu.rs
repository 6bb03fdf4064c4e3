//! LU factorisation of a batch.

use super::batch::{for_each, for_each_run, run_length, split};
use super::routines::Lu;
use super::{all_finite, refuse_negative, small, Batch, Precision};
use xla_ffi::Result;

/// `P A = L U` in place. `info` is 0, or the first column, counted from 1, where `U` has a zero on
/// its diagonal. A matrix with NaN or an infinity becomes NaN, its pivots 1, 2, ….
///
/// # Errors
/// There is no memory for a working copy.
pub fn getrf<T: Precision>(
    (cx, shape): Batch<'_>,
    a: &mut [T],
    pivots: &mut [i32],
    info: &mut [i32],
) -> Result<()> {
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let flops = shape.flops();
    if small::suits::<T>(shape, small::lu::MOST) {
        let run = run_length(flops);
        let (m, n, rank) = shape.sizes();
        let runs = a
            .chunks_mut(run * m * n)
            .zip(pivots.chunks_mut(run * rank))
            .zip(info.chunks_mut(run));
        for_each_run(
            cx,
            flops * shape.count as f64,
            runs,
            |((a, pivots), info)| {
                let count = info.len();
                T::in_lanes(
                    small::lu::Lu {
                        m,
                        n,
                        a,
                        pivots,
                        info,
                    },
                    count,
                );
            },
        );
        return Ok(());
    }
    let items = split(a, shape.elements(), shape.count)
        .zip(split(pivots, shape.rank() as usize, shape.count))
        .zip(info);
    for_each(
        cx,
        flops,
        items,
        || Ok(()),
        |(), ((a, pivots), info)| {
            // The search for a pivot compares, and no comparison with NaN means anything.
            if !all_finite(a) {
                small::lu::not_finite(a, pivots, info);
                return Ok(());
            }
            let mut work = T::stage(a)?;
            *info = T::Work::getrf(shape.rows, shape.cols, &mut work, pivots);
            refuse_negative(*info, "getrf")
        },
    )
}
