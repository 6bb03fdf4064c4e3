//! Tridiagonal systems of a batch.

use crate::platform::host::batch::{for_each, no_workspace, split};
use crate::platform::host::{Batch, HostScalar};
use lapack::refuse_negative;
use lapack::routines;
use matrices::all_finite;
use xla_ffi::Result;

/// What `info` is for a system with NaN or an infinity: it stops at its first row.
const NOT_FINITE: i32 = 1;

/// Solves tridiagonal systems in place of `b` (of the batch's shape); the factors are left in the
/// diagonals, which all have as many places as rows: the first of `dl` and the last of `du` are
/// neither read nor written. `info` is 0, or the first row where the factor has a zero on its
/// diagonal. A system with NaN or an infinity becomes NaN.
///
/// # Errors
/// There is no memory for a working copy.
pub fn gtsv<T: HostScalar>(
    (cx, shape): Batch<'_>,
    (dl, d, du): (&mut [T], &mut [T], &mut [T]),
    b: &mut [T],
    info: &mut [i32],
) -> Result<()> {
    let (n, count) = (shape.rows as usize, shape.count);
    info.fill(0);
    if b.is_empty() {
        return Ok(());
    }
    let items = split(dl, n, count)
        .zip(split(d, n, count))
        .zip(split(du, n, count))
        .zip(split(b, shape.elements(), count))
        .zip(info);
    let flops = 10.0 * shape.elements() as f64;
    for_each(
        cx,
        flops,
        items,
        no_workspace,
        |(), ((((dl, d), du), b), info)| {
            let (dl, du) = (&mut dl[1..], &mut du[..n - 1]);
            if !(all_finite(dl) && all_finite(d) && all_finite(du) && all_finite(b)) {
                for part in [dl, d, du, b] {
                    part.fill(T::NAN);
                }
                *info = NOT_FINITE;
                return Ok(());
            }
            *info = routines::gtsv(dl, d, du, b);
            refuse_negative(*info, "gtsv")
        },
    )
}
