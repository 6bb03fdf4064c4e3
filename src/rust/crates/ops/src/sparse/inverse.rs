//! The inverse of a sparse matrix where it has entries, and its derivatives there.

use super::directions::read_directions;
use super::state::{sparse_op, Analysis, Call, Float};
use crate::platform::host::batch::split;
use xla_ffi::{Arg, MinRank, RemainingArgs, Result, Ret};

sparse_op! {
    /// `sparse_inverse`: of each factored sparse matrix the inverse, where the matrix has entries.
    symmetric SparseInverse: InverseIo = "sparse_inverse" by inverse {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., nnz)`: the values of the inverse at the pattern's entries
        inverse: Ret<'f, T>,
    }
}

fn inverse<T: Float>(mut io: InverseIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let symbolic = &call.known.symbolic;
    let (batch, count, [_]) = io.factor.split_dims()?;
    let (nnz, len) = (symbolic.pattern().nnz(), symbolic.factor_len());
    io.factor.expect_batch_dims(batch, &[len as i64])?;
    io.inverse.expect_batch_dims(batch, &[nnz as i64])?;
    let factors = io.factor.as_slice()?;
    let items = split(io.inverse.as_mut_slice()?, nnz, count).enumerate();
    call.for_each(items, |(at, inverse)| {
        T::inverse(symbolic, &factors[at * len..][..len], inverse)
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

fn inverse_derivative<T: Float>(io: DerivativeIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let symbolic = &call.known.symbolic;
    let (_, count, nnz) = call.known.matrices(&io.a)?;
    let mut derivative = io.derivative;
    derivative.expect_dims(io.a.dims())?;
    io.direction.expect_dims(io.a.dims())?;
    let along = read_directions(vec![io.direction.as_slice()?], io.more, io.a.dims())?;
    let a = io.a.as_slice()?;
    let items = split(derivative.as_mut_slice()?, nnz, count).enumerate();
    call.for_each(items, |(at, result)| {
        let here = at * nnz..(at + 1) * nnz;
        let along: Vec<&[T]> = along.iter().map(|values| &values[here.clone()]).collect();
        T::inverse_derivative(symbolic, &a[here], &along, result)
    })
}
