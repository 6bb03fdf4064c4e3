//! Kepler's equation.
//!
//! Without iterations, so that a vector of points takes one way. M is wrapped to ±π. The starter is
//! that of S. Mikkola, "A cubic approximation for Kepler's equation", Celestial Mechanics 40
//! (1987), 329-334, doi:10.1007/BF01235850; then follow one step of Halley's method in f32 and, for
//! f64, one more in f64. Sine and cosine are minimax polynomials about 0, π/2 and π. All is written
//! with `1 - e`, `E - sin E` and `1 - cos E`, which do not cancel where e is near 1 and E near 0.
//!
//! Errors stay below 3 units, a unit being one ulp of the result plus what one ulp of the wrapped
//! M makes of it; `examples/kepler_accuracy.rs` measures it on ten million points, M down to 1e-44
//! and 1 - e down to 1e-16. M is wrapped to its last bit, however large it is.

mod arith;
mod block;
mod cuda;
mod dispatch;
mod double;
mod single;
#[cfg(test)]
mod tests;
mod trig;
mod wrap;

pub use block::Point;

use xla_ffi::{io, Arg, Cx, Floats, Host, Kernel, Op, Platform, Result, Ret, Scalar, Traits};

io! {
    /// `E - e sin E = M`.
    pub struct KeplerIo<'f, T> {
        /// any shape: the mean anomaly M, in radians
        pub(crate) mean_anomaly: Arg<'f, T>,
        /// shape of M: the eccentricity e, in [0, 1)
        pub(crate) eccentricity: Arg<'f, T>,
        /// shape of M: the sine of the eccentric anomaly E
        pub(crate) sin: Ret<'f, T>,
        /// shape of M: the cosine of E
        pub(crate) cos: Ret<'f, T>,
    }
}

/// `kepler`: sine and cosine of the eccentric anomaly. Where e lies outside [0, 1), or M is not
/// finite, both are NaN.
pub struct Kepler;

impl Op for Kepler {
    const TARGET: &'static str = "kepler";
    type Dtypes = Floats;
    // On CUDA one kernel, without scratch memory.
    const TRAITS: Traits = Traits::COMMAND_BUFFER_COMPATIBLE;
}

/// A platform that solves Kepler's equation in `T`.
pub trait KeplerSolver<T: Scalar>: Platform {
    /// Solves for all points. The operands have one shape.
    ///
    /// # Errors
    /// The platform's own; memory shared by an argument and a result in a way that cannot be
    /// worked with.
    fn kepler(io: KeplerIo<'_, T>, cx: &Cx<'_, Self>) -> Result<()>;
}

impl<T: Scalar, P: KeplerSolver<T>> Kernel<P, T> for Kepler {
    type Io<'f> = KeplerIo<'f, T>;

    fn run(io: KeplerIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        io.eccentricity.expect_dims(io.mean_anomaly.dims())?;
        io.sin.expect_dims(io.mean_anomaly.dims())?;
        io.cos.expect_dims(io.mean_anomaly.dims())?;
        P::kepler(io, cx)
    }
}

/// Points that a thread takes at a time: some 10 µs of work.
const CHUNK: usize = 4096;

impl<T: Point> KeplerSolver<T> for Host {
    fn kepler(io: KeplerIo<'_, T>, cx: &Cx<'_, Self>) -> Result<()> {
        let (m, e) = (io.mean_anomaly, io.eccentricity);
        let (mut sin, mut cos) = (io.sin, io.cos);
        if !m.is_aliased() && !e.is_aliased() {
            let inputs = m.as_slice()?.chunks(CHUNK).zip(e.as_slice()?.chunks(CHUNK));
            let sin = sin.as_mut_slice()?.chunks_mut(CHUNK);
            let outputs = sin.zip(cos.as_mut_slice()?.chunks_mut(CHUNK));
            cx.parallel_for_each(inputs.zip(outputs), |((m, e), (sin, cos))| {
                dispatch::solve(m, e, sin, cos);
            });
            return Ok(());
        }
        // In place. Each result takes an argument: the one whose memory it has, if any.
        let crossed = m.as_ptr() == cos.as_ptr() || e.as_ptr() == sin.as_ptr();
        let (first, second) = if crossed { (&e, &m) } else { (&m, &e) };
        sin.copy_from(first)?;
        cos.copy_from(second)?;
        let sin = sin.as_mut_slice()?.chunks_mut(CHUNK);
        let outputs = sin.zip(cos.as_mut_slice()?.chunks_mut(CHUNK));
        cx.parallel_for_each(outputs, |(sin, cos)| {
            let (first, second) = (sin.to_vec(), cos.to_vec());
            let (m, e) = if crossed {
                (second, first)
            } else {
                (first, second)
            };
            dispatch::solve(&m, &e, sin, cos);
        });
        Ok(())
    }
}
