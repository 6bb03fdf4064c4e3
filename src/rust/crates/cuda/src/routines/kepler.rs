//! Kepler's equation.

use super::{expect_whole, Real};
use crate::{kernels, Cuda};
use std::mem::size_of;
use xla_ffi::{Arg, Cx, Result, Ret};

const KEPLER: [&str; 2] = kernels::for_precisions!("kepler");

/// Bytes that a thread of the kernel reads at once, and so its points.
const PACK: usize = 16;

/// Threads of a block, as the kernel says itself.
const THREADS: usize = 128;

/// Packs from which on a GPU has enough threads where each takes several of them, one after the other.
const MANY: usize = 1 << 20;

/// How many it takes then: an H100 is at 0.95 of a copy's bandwidth in f64 so, with one it is at 0.92.
const TURNS: usize = 4;

/// Solves for all points. An argument may have the very memory of a result, so these are operands
/// and no slices.
///
/// # Errors
/// The [module's](super); an argument shares a part of its memory with a result.
pub fn kepler<T: Real>(
    cx: &Cx<'_, Cuda>,
    [mean_anomaly, eccentricity]: [&Arg<'_, T>; 2],
    [sin, cos]: [&mut Ret<'_, T>; 2],
) -> Result<()> {
    let (count, dims) = (sin.len(), sin.dims());
    mean_anomaly.expect_dims(dims)?;
    eccentricity.expect_dims(dims)?;
    cos.expect_dims(dims)?;
    let results = [sin.as_mut_ptr(), cos.as_mut_ptr()];
    for argument in [mean_anomaly, eccentricity] {
        expect_whole(argument, &results)?;
    }
    let arguments = [
        mean_anomaly.as_ptr() as u64,
        eccentricity.as_ptr() as u64,
        results[0] as u64,
        results[1] as u64,
        count as u64,
    ];
    if count == 0 {
        return Ok(());
    }
    let packs = count.div_ceil(PACK / size_of::<T>());
    let turns = if packs > MANY { TURNS } else { 1 };
    // The kernel strides over what a grid does not reach.
    let grid = packs.div_ceil(THREADS * turns).min(1 << 20) as u32;
    let (kernel, sizes) = (
        kernels::ELEMENTS.kernel(KEPLER[T::PRECISION]),
        ([grid, 1], [THREADS as u32, 1], 0),
    );
    // SAFETY: four operands of `count` points; where an argument overlaps a result, it has its
    // memory.
    unsafe { kernels::started(cx.platform(), &kernel, sizes, arguments) }
}
