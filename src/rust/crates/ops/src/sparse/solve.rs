//! Equations with a sparse factor.

use super::state::{sparse_op, Analysis, Call, Float};
use crate::platform::host::batch::split;
use ::sparse::System;
use xla_ffi::{Arg, Attr, Error, MinRank, Operand, OperandKind, Result, Ret};

sparse_op! {
    /// `sparse_solve`: solutions of equations with the Cholesky factor of a sparse matrix.
    symmetric SparseSolve: SolveIo = "sparse_solve" by solve {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., n, k)`, column-major matrices: the right-hand sides
        b: Arg<'f, T, MinRank<2>>,
        /// `(..., n, k)`, column-major matrices: the solutions
        x: Ret<'f, T>,
        /// which equation, of `P A Pᵀ = L Lᵀ`: "A" for `A x = b` (default), "L" for `L x = P b`, "Lt" for `Lᵀ P x = b`
        mode: Attr<&'f str> = "A",
    }
}

fn solve<T: Float>(mut io: SolveIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let system = system(*io.mode)?;
    let symbolic = &call.known.symbolic;
    let (batch, count, [_]) = io.factor.split_dims()?;
    let (n, len) = (symbolic.n(), symbolic.factor_len());
    io.factor.expect_batch_dims(batch, &[len as i64])?;
    let (_, _, [_, columns]) = io.b.split_dims()?;
    io.b.expect_batch_dims(batch, &[n as i64, columns as i64])?;
    io.x.expect_dims(io.b.dims())?;
    let (factors, b) = (io.factor.as_slice()?, io.b.as_slice()?);
    let size = n * columns;
    let items = split(io.x.as_mut_slice()?, size, count).enumerate();
    call.for_each(items, |(at, x)| {
        let factor = &factors[at * len..][..len];
        symbolic.solve(factor, system, &b[at * size..][..size], x)
    })
}

fn system(mode: &str) -> Result<System> {
    match mode {
        "A" => Ok(System::Whole),
        "L" => Ok(System::Lower),
        "Lt" => Ok(System::Transposed),
        other => Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, "mode"),
            "be \"A\", \"L\" or \"Lt\"",
            format_args!("\"{other}\""),
        )),
    }
}
