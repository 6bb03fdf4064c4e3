//! LU factorisation of a batch.

use super::batch::{for_each, split};
use super::routines::Lu;
use super::{all_finite, refuse_negative, Batch, Precision};
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
    let items = split(a, shape.elements(), shape.count)
        .zip(split(pivots, shape.rank() as usize, shape.count))
        .zip(info);
    for_each(
        cx,
        shape.flops(),
        items,
        || Ok(()),
        |(), ((a, pivots), info)| {
            // The search for a pivot compares, and no comparison with NaN means anything.
            if !all_finite(a) {
                a.fill(T::NAN);
                pivots.iter_mut().zip(1..).for_each(|(p, i)| *p = i);
                *info = 0;
                return Ok(());
            }
            let mut work = T::stage(a)?;
            *info = T::Work::getrf(shape.rows, shape.cols, &mut work, pivots);
            refuse_negative(*info, "getrf")
        },
    )
}
