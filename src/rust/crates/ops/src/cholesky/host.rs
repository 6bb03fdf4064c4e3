//! Cholesky factorisation of a batch.

use crate::platform::host::batch::{
    cost_in_lanes, for_each, for_each_run, no_workspace, run_length_of,
};
use crate::platform::host::{kernel_suits, Batch, Changed, HostScalar};
use lanes::cholesky::{Potrf, BLOCKS, COMPLEX_BLOCKS, MOST, NOT_FINITE};
use lapack::refuse_negative;
use lapack::routines;
use matrices::{triangle_finite, Triangle};
use xla_ffi::Result;

/// The Cholesky factor in place of the triangle; the other triangle is neither read nor written.
/// `info` is 0, or the order of the first minor that is not positive definite. A matrix whose
/// triangle has NaN or an infinity becomes NaN. `finish` is called with each matrix and its `info`.
///
/// # Errors
/// There is no memory for a working copy.
pub fn potrf<T: HostScalar>(
    (cx, shape): Batch<'_>,
    triangle: Triangle,
    a: Changed<'_, T>,
    info: &mut [i32],
    finish: impl Fn(&mut [T], &i32) + Sync,
) -> Result<()> {
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let flops = shape.flops() / 3.0;
    if kernel_suits::<T>(shape, MOST) {
        let cost = cost_in_lanes(flops, shape.elements());
        let blocks = if T::COMPLEX { COMPLEX_BLOCKS } else { BLOCKS };
        let run = run_length_of((cx, shape), blocks, cost);
        let n = shape.rows as usize;
        let runs = a.parts(run * n * n).zip(info.chunks_mut(run));
        return for_each_run((cx, shape), cost, runs, |(a, info), together| {
            let (a, count) = (a.ready(), info.len());
            T::in_lanes(
                Potrf {
                    n,
                    triangle,
                    a: &mut *a,
                    info: &mut *info,
                    together,
                },
                count,
            )?;
            for (a, info) in a.chunks_exact_mut(n * n).zip(&*info) {
                finish(a, info);
            }
            Ok(())
        });
    }
    let items = a.parts(shape.elements()).zip(info);
    for_each(cx, flops, items, no_workspace, |(), (a, info)| {
        let a = a.ready();
        if triangle_finite(a, shape.rows as usize, triangle) {
            *info = routines::potrf(triangle, shape.rows, a);
        } else {
            a.fill(T::NAN);
            *info = NOT_FINITE;
        }
        finish(a, info);
        refuse_negative(*info, "potrf")
    })
}
