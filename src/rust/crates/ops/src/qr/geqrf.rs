//! QR factorisation.

use super::QrSolver;
use crate::op::op;
use crate::shape;
use xla_ffi::{Arg, Cx, Kernel, MinRank, Result, Ret, Scalar};

op! {
    /// `geqrf`: QR factorisation, `A = Q R`, of each matrix of a batch, `Q` as LAPACK's reflectors; `orgqr` makes
    /// its columns of them. A matrix with NaN or an infinity becomes NaN.
    Geqrf: GeqrfIo = "geqrf" of RealAndComplex {
        /// `(..., m, n)`, column-major matrices
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `R` on and above the diagonal, the reflectors below it
        packed: Ret<'f, T>,
        /// `(..., min(m, n))`: the reflectors' factors
        tau: Ret<'f, T>,
    }
}

impl<T: Scalar, P: QrSolver<T>> Kernel<P, T> for Geqrf {
    type Io<'f> = GeqrfIo<'f, T>;

    fn run(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (shape, batch) = shape::matrices(&io.a)?;
        io.packed.expect_dims(io.a.dims())?;
        io.tau.expect_batch_dims(batch, &[shape.rank().into()])?;
        P::geqrf((cx, shape), &io.a, [&mut io.packed, &mut io.tau])
    }
}
