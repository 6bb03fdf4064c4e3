//! Products of a sparse matrix of any shape and dense ones.

use super::state::{sparse_op, Call, Float};
use crate::platform::host::batch::split;
use ::sparse::Columns;
use xla_ffi::{Arg, Attr, MinRank, Result, Ret};

sparse_op! {
    /// `sparse_matmul`: the product of each sparse matrix of a batch, or of its transpose, and a dense one.
    columns SparseMatmul: MatmulIo = "sparse_matmul" by matmul {
        /// `(..., nnz)`: the values of `A` at the pattern's entries
        values: Arg<'f, T, MinRank<1>>,
        /// `(..., ncol, k)`, or `(..., nrow, k)` where transposed: column-major matrices
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., nrow, k)`, or `(..., ncol, k)` where transposed: column-major matrices
        y: Ret<'f, T>,
        /// whether the product is with the transpose of `A`
        transpose: Attr<bool> = false,
    }
}

fn matmul<T: Float>(mut io: MatmulIo<'_, T>, call: Call<'_, Columns>) -> Result<()> {
    let (pattern, transpose) = (call.known, *io.transpose);
    let (batch, count, [_]) = io.values.split_dims()?;
    let (nnz, nrow, ncol) = (pattern.nnz(), pattern.nrow(), pattern.ncol());
    let (long, wide) = if transpose {
        (nrow, ncol)
    } else {
        (ncol, nrow)
    };
    io.values.expect_batch_dims(batch, &[nnz as i64])?;
    let (_, _, [_, k]) = io.x.split_dims()?;
    io.x.expect_batch_dims(batch, &[long as i64, k as i64])?;
    io.y.expect_batch_dims(batch, &[wide as i64, k as i64])?;
    let (values, x) = (io.values.as_slice()?, io.x.as_slice()?);
    let (from, to) = (long * k, wide * k);
    let items = split(io.y.as_mut_slice()?, to, count).enumerate();
    call.for_each(items, |(at, y)| {
        let (values, x) = (&values[at * nnz..][..nnz], &x[at * from..][..from]);
        pattern.product(values, transpose, x, y);
        Ok(())
    })
}

sparse_op! {
    /// `sparse_sampled_product`: the product of a dense matrix and the transpose of another one, where a pattern has
    /// entries.
    columns SparseSampledProduct: SampledProductIo = "sparse_sampled_product" by sampled_product {
        /// `(..., nrow, k)`, column-major matrices
        u: Arg<'f, T, MinRank<2>>,
        /// `(..., ncol, k)`, column-major matrices
        v: Arg<'f, T, MinRank<2>>,
        /// `(..., nnz)`: the values at the pattern's entries
        values: Ret<'f, T>,
    }
}

fn sampled_product<T: Float>(
    mut io: SampledProductIo<'_, T>,
    call: Call<'_, Columns>,
) -> Result<()> {
    let pattern = call.known;
    let (batch, count, [_, k]) = io.u.split_dims()?;
    let (nnz, nrow, ncol) = (pattern.nnz(), pattern.nrow(), pattern.ncol());
    io.u.expect_batch_dims(batch, &[nrow as i64, k as i64])?;
    io.v.expect_batch_dims(batch, &[ncol as i64, k as i64])?;
    io.values.expect_batch_dims(batch, &[nnz as i64])?;
    let (u, v) = (io.u.as_slice()?, io.v.as_slice()?);
    let items = split(io.values.as_mut_slice()?, nnz, count).enumerate();
    call.for_each(items, |(at, values)| {
        let u = &u[at * nrow * k..][..nrow * k];
        let v = &v[at * ncol * k..][..ncol * k];
        pattern.sampled_product(u, v, values);
        Ok(())
    })
}
