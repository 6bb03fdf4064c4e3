//! Kepler's equation.

use super::{KeplerIo, KeplerSolver};
use cuda::{kernels, Cuda, Element};
use std::mem::size_of;
use xla_ffi::{Code, Cx, Error, Result};

const KEPLER: [&str; 2] = ["kepler_f32", "kepler_f64"];

/// Bytes that a thread of the kernel reads at once, and so its points.
const PACK: usize = 16;

/// f32 and f64.
pub trait Point: Element {}

impl Point for f32 {}
impl Point for f64 {}

impl<T: Point> KeplerSolver<T> for Cuda {
    fn kepler(io: KeplerIo<'_, T>, cx: &Cx<'_, Self>) -> Result<()> {
        let KeplerIo {
            mean_anomaly,
            eccentricity,
            mut sin,
            mut cos,
        } = io;
        let results = [sin.as_mut_ptr(), cos.as_mut_ptr()];
        for argument in [&mean_anomaly, &eccentricity] {
            // A point is read before it is written, so the very memory will do, but not a part.
            if argument.is_aliased() && results.iter().all(|&r| r.cast_const() != argument.as_ptr())
            {
                let text = "shares a part of its memory with a result";
                return Err(
                    Error::new(Code::FailedPrecondition, text).with_operand(argument.operand())
                );
            }
        }
        let count = sin.len();
        let arguments = [
            mean_anomaly.as_ptr() as u64,
            eccentricity.as_ptr() as u64,
            results[0] as u64,
            results[1] as u64,
            count as u64,
        ];
        let threads = count.div_ceil(PACK / size_of::<T>());
        kernels::launch(cx.platform(), KEPLER[T::PRECISION], (threads, 1), arguments)
    }
}
