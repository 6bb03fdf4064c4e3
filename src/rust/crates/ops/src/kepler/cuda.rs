//! Kepler's equation.

use super::{KeplerIo, KeplerSolver};
use cuda::routines::{kepler::kepler, Real};
use cuda::Cuda;
use xla_ffi::{Cx, Result};

impl<T: Real> KeplerSolver<T> for Cuda {
    fn kepler(mut io: KeplerIo<'_, T>, cx: &Cx<'_, Self>) -> Result<()> {
        kepler(
            cx,
            [&io.mean_anomaly, &io.eccentricity],
            [&mut io.sin, &mut io.cos],
        )
    }
}
