//! The Cholesky factor of a sparse matrix, and its entries.

use super::state::{sparse_op, Analysis, Call, Float};
use crate::platform::host::batch::split;
use xla_ffi::{Arg, MinRank, Result, Ret};

sparse_op! {
    /// `sparse_cholesky`: the Cholesky factor of each sparse symmetric matrix of a batch, rows and columns in an order in
    /// which it stays sparse. NaN where the matrix is not positive definite or not finite.
    symmetric SparseCholesky: CholeskyIo = "sparse_cholesky" by cholesky {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// `(..., length)`: the factor, supernode by supernode, of as many elements as the pattern's analysis says
        factor: Ret<'f, T>,
        /// `(...)`: 0, or the column, counted from 1, at which the matrix is not positive definite
        info: Ret<'f, i32>,
    }
}

fn cholesky<T: Float>(mut io: CholeskyIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let symbolic = &call.known.symbolic;
    let (batch, count, nnz) = call.known.matrices(&io.a)?;
    let len = symbolic.factor_len();
    io.factor.expect_batch_dims(batch, &[len as i64])?;
    io.info.expect_dims(batch)?;
    let a = io.a.as_slice()?;
    let factors = split(io.factor.as_mut_slice()?, len, count).enumerate();
    let items = factors.zip(io.info.as_mut_slice()?);
    call.for_each(items, |((at, factor), info)| {
        *info = T::cholesky(symbolic, &a[at * nnz..][..nnz], factor)?;
        Ok(())
    })
}

sparse_op! {
    /// `sparse_factor_values`: the values of the Cholesky factor in compressed columns, of the pattern that the matrix's
    /// pattern leads to.
    symmetric SparseFactorValues: FactorValuesIo = "sparse_factor_values" by factor_values {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., entries)`: the values in compressed columns, in the order of elimination
        values: Ret<'f, T>,
    }
}

fn factor_values<T: Float>(mut io: FactorValuesIo<'_, T>, call: Call<'_, Analysis>) -> Result<()> {
    let (batch, count, [_]) = io.factor.split_dims()?;
    let (len, places) = (call.known.symbolic.factor_len(), call.known.factor_places());
    io.factor.expect_batch_dims(batch, &[len as i64])?;
    io.values.expect_batch_dims(batch, &[places.len() as i64])?;
    let factors = io.factor.as_slice()?;
    let values = split(io.values.as_mut_slice()?, places.len(), count).enumerate();
    call.for_each(values, |(at, values)| {
        let factor = &factors[at * len..][..len];
        for (value, &place) in values.iter_mut().zip(places) {
            *value = factor[place];
        }
        Ok(())
    })
}
