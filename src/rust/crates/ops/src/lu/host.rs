//! LU factorisation of a batch.

use super::LuSolver;
use crate::platform::host::batch::{
    cost_in_lanes, for_each, for_each_run, no_workspace, run_length_of, split,
};
use crate::platform::host::{kernel_suits, Batch, Changed, HostScalar, UnwantedInfo};
use crate::platform::{Call, Results};
use lanes::lu::{not_finite, Lu, BLOCKS, COMPLEX_BLOCKS, MOST};
use lapack::refuse_negative;
use lapack::routines;
use matrices::all_finite;
use xla_ffi::{AnyBuffer, Host, Result};

/// `P A = L U` in place. `info` is 0, or the first column, counted from 1, where `U` has a zero on
/// its diagonal. A matrix with NaN or an infinity becomes NaN, its pivots 1, 2, ….
///
/// # Errors
/// There is no memory for a working copy.
#[inline]
pub fn getrf<T: HostScalar>(
    (cx, shape): Batch<'_>,
    a: Changed<'_, T>,
    pivots: &mut [i32],
    info: &mut [i32],
) -> Result<()> {
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    if shape.rows == 1 {
        one_row(a.ready(), shape.cols as usize, pivots, info);
        return Ok(());
    }
    eliminate((cx, shape), a, pivots, info)
}

/// [`getrf`] of matrices in which there is something to eliminate. Not inlined, so that the rest is.
#[inline(never)]
fn eliminate<T: HostScalar>(
    (cx, shape): Batch<'_>,
    a: Changed<'_, T>,
    pivots: &mut [i32],
    info: &mut [i32],
) -> Result<()> {
    let flops = shape.flops();
    if kernel_suits::<T>(shape, MOST) {
        let cost = cost_in_lanes(flops, shape.elements());
        let blocks = if T::COMPLEX { COMPLEX_BLOCKS } else { BLOCKS };
        let run = run_length_of((cx, shape), blocks, cost);
        let (m, n, rank) = shape.sizes();
        let runs = a
            .parts(run * m * n)
            .zip(pivots.chunks_mut(run * rank))
            .zip(info.chunks_mut(run));
        return for_each_run((cx, shape), cost, runs, |((a, pivots), info), together| {
            let count = info.len();
            T::in_lanes(
                Lu {
                    run: a.run(shape, together),
                    pivots,
                    info,
                },
                count,
            )
        });
    }
    let items = a
        .parts(shape.elements())
        .zip(split(pivots, shape.rank() as usize, shape.count))
        .zip(info);
    for_each(cx, flops, items, no_workspace, |(), ((a, pivots), info)| {
        let a = a.ready();
        // The search for a pivot compares, and no comparison with NaN means anything.
        if !all_finite(a) {
            not_finite(a, pivots, info);
            return Ok(());
        }
        let lifted = lift(a);
        *info = routines::getrf((shape.rows, shape.cols), a, pivots);
        if let Some(power) = lifted {
            let columns = a.chunks_exact_mut(shape.rows as usize).enumerate();
            for (j, column) in columns {
                for u in column.iter_mut().take(j + 1) {
                    *u = u.times(1.0 / power);
                }
            }
            // Some of `U` may be less than the smallest number now.
            *info = first_zero(a, shape.rows as usize);
        }
        refuse_negative(*info, "getrf")
    })
}

/// The first column, counted from 1, with a zero on the diagonal; 0 for none.
fn first_zero<T: HostScalar>(a: &[T], rows: usize) -> i32 {
    let mut diagonal = a.iter().step_by(rows + 1).take(rows);
    let found = diagonal.position(|u| u.magnitude() == 0.0);
    found.map_or(0, |column| column as i32 + 1)
}

/// Matrices of one row, in which there is nothing to eliminate.
fn one_row<T: HostScalar>(a: &mut [T], cols: usize, pivots: &mut [i32], info: &mut [i32]) {
    let results = pivots.chunks_exact_mut(1).zip(info);
    for (row, (pivot, info)) in a.chunks_exact_mut(cols).zip(results) {
        if all_finite(row) {
            pivot.fill(1);
            *info = i32::from(row[0].magnitude() == 0.0);
        } else {
            not_finite(row, pivot, info);
        }
    }
}

/// Multiplies a matrix that has tiny elements by a power of 2, if that leaves room for what they
/// grow to, and tells the power: OpenBLAS multiplies by reciprocals of pivots, which overflow where
/// those are subnormal. `L` is then the same, and `U` is that multiple of itself.
#[inline(never)]
fn lift<T: HostScalar>(a: &mut [T]) -> Option<f64> {
    // Without an early way out, and without the largest, so that it vectorises: usually there is none.
    let tiny = a.iter().fold(false, |tiny, value| {
        let size = value.magnitude();
        tiny | ((size != 0.0) & (size < T::TINY))
    });
    if !tiny {
        return None;
    }
    let largest = a.iter().map(|value| value.magnitude()).fold(0.0, f64::max);
    // An eighth of the range is left for growth.
    let room = (-0.875 * T::TINY.log2() - largest.log2()).floor();
    if room < 1.0 {
        return None;
    }
    let power = room.min(1000.0).exp2();
    a.iter_mut().for_each(|value| *value = value.times(power));
    Some(power)
}

impl<T: HostScalar> LuSolver<T> for Host {
    fn getrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        [lu, pivots]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let (cx, shape) = call;
        getrf::<T>(
            (cx, shape),
            Changed::new(a, lu)?,
            pivots.as_mut_slice()?,
            UnwantedInfo::new(shape)?.as_mut_slice(),
        )
    }
}
