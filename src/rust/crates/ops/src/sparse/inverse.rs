//! The inverse of a sparse matrix where it has entries, and its derivatives there.

use super::directions::read_directions;
use super::state::{for_each, sparse_op, Analysis};
use crate::platform::host::batch::split;
use ::sparse::Number;
use xla_ffi::{Arg, Cx, Host, MinRank, RemainingArgs, Result, Ret, Scalar};

sparse_op! {
    /// `sparse_inverse`: of each factored sparse matrix the inverse, where the matrix has entries.
    symmetric SparseInverse: InverseIo = "sparse_inverse" by inverse {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., nnz)`: the values of the inverse at the pattern's entries
        inverse: Ret<'f, T>,
    }
}

fn inverse<T: Scalar + Number>(
    mut io: InverseIo<'_, T>,
    cx: &Cx<'_, Host>,
    known: &Analysis,
) -> Result<()> {
    let symbolic = &known.symbolic;
    let (batch, count, [_]) = io.factor.split_dims()?;
    let (nnz, len) = (symbolic.pattern().nnz(), symbolic.factor_len());
    io.factor.expect_batch_dims(batch, &[len as i64])?;
    io.inverse.expect_batch_dims(batch, &[nnz as i64])?;
    let factors = io.factor.as_slice()?;
    let items = split(io.inverse.as_mut_slice()?, nnz, count).enumerate();
    for_each(cx, items, |(at, inverse)| {
        symbolic.inverse(&factors[at * len..][..len], inverse)
    })
}

sparse_op! {
    /// `sparse_inverse_derivative`: the mixed derivative, in up to four directions, of the inverse of a sparse matrix,
    /// where the matrix has entries. NaN where the matrix is not positive definite.
    /// The derivative is that of `(A + e1 D1 + … + ek Dk)⁻¹` in `e1`, …, `ek` at 0.
    symmetric SparseInverseDerivative: DerivativeIo = "sparse_inverse_derivative" by inverse_derivative {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: a direction, a symmetric matrix of the same pattern
        direction: Arg<'f, T>,
        /// shape of `a`: up to three directions more
        more: RemainingArgs<'f>,
        /// shape of `a`: the derivative at the pattern's entries
        derivative: Ret<'f, T>,
    }
}

fn inverse_derivative<T: Scalar + Number>(
    io: DerivativeIo<'_, T>,
    cx: &Cx<'_, Host>,
    known: &Analysis,
) -> Result<()> {
    let symbolic = &known.symbolic;
    let (batch, count, [_]) = io.a.split_dims()?;
    let nnz = symbolic.pattern().nnz();
    io.a.expect_batch_dims(batch, &[nnz as i64])?;
    let mut derivative = io.derivative;
    derivative.expect_dims(io.a.dims())?;
    io.direction.expect_dims(io.a.dims())?;
    let along = read_directions(vec![io.direction.as_slice()?], io.more, io.a.dims())?;
    let a = io.a.as_slice()?;
    let items = split(derivative.as_mut_slice()?, nnz, count).enumerate();
    for_each(cx, items, |(at, result)| {
        let here = at * nnz..(at + 1) * nnz;
        let along: Vec<&[T]> = along.iter().map(|values| &values[here.clone()]).collect();
        symbolic.inverse_derivative(&a[here], &along, result)
    })
}
