//! The Cholesky factor in the matrix's own order, and its derivatives.

use super::directions::read_directions;
use super::state::{sparse_op, Analysis, Call, Float};
use crate::platform::host::batch::split;
use xla_ffi::{Arg, MinRank, RemainingArgs, Result, Ret};

sparse_op! {
    /// `sparse_own_factor`: the Cholesky factor of each sparse symmetric matrix of a batch, rows and columns in their own
    /// order, or its mixed derivative in up to four directions. NaN where the matrix is not positive definite.
    symmetric SparseOwnFactor: OwnFactorIo = "sparse_own_factor" by factor {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: up to four directions, symmetric matrices of the same pattern
        directions: RemainingArgs<'f>,
        /// `(..., entries)`: the values in compressed columns, with the entries that the elimination fills in
        values: Ret<'f, T>,
    }
}

fn factor<T: Float>(mut io: OwnFactorIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let own = call.known.own_order();
    let (batch, count, nnz) = call.known.matrices(&io.a)?;
    let entries = own.rows().len();
    io.values.expect_batch_dims(batch, &[entries as i64])?;
    let directions = read_directions(Vec::new(), io.directions, io.a.dims())?;
    let a = io.a.as_slice()?;
    let items = split(io.values.as_mut_slice()?, entries, count).enumerate();
    call.for_each(items, |(at, values)| {
        let here = at * nnz..(at + 1) * nnz;
        let along: Vec<&[T]> = directions.iter().map(|d| &d[here.clone()]).collect();
        T::own_factor(own, &a[here], &along, values)
    })
}

sparse_op! {
    /// `sparse_own_factor_pullback`: the derivative, by the entries of a sparse symmetric matrix, of the sum of weights
    /// times the entries of its Cholesky factor as `sparse_own_factor` gives it, or the mixed derivative of that in up to
    /// four directions. NaN where the matrix is not positive definite.
    symmetric SparseOwnFactorPullback: PullbackIo = "sparse_own_factor_pullback" by pullback {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// `(..., entries)`: weights, as `sparse_own_factor` gives the factor
        weights: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: up to four directions, symmetric matrices of the same pattern
        directions: RemainingArgs<'f>,
        /// shape of `a`: the derivatives by the entries
        slope: Ret<'f, T>,
    }
}

fn pullback<T: Float>(mut io: PullbackIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let own = call.known.own_order();
    let (batch, count, nnz) = call.known.matrices(&io.a)?;
    let entries = own.rows().len();
    io.weights.expect_batch_dims(batch, &[entries as i64])?;
    io.slope.expect_dims(io.a.dims())?;
    let directions = read_directions(Vec::new(), io.directions, io.a.dims())?;
    let (a, weights) = (io.a.as_slice()?, io.weights.as_slice()?);
    let items = split(io.slope.as_mut_slice()?, nnz, count).enumerate();
    call.for_each(items, |(at, slope)| {
        let here = at * nnz..(at + 1) * nnz;
        let along: Vec<&[T]> = directions.iter().map(|d| &d[here.clone()]).collect();
        T::own_pullback(
            own,
            &a[here],
            &weights[at * entries..][..entries],
            &along,
            slope,
        )
    })
}
