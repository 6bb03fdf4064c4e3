//! The Cholesky factor of a sparse matrix, and its entries.

use super::state::{analysis, for_each, keeps, kept};
use crate::platform::host::batch::split;
use ::sparse::Number;
use xla_ffi::{io, Arg, Attr, Cx, Floats, Host, Kernel, MinRank, Op, Result, Ret, Scalar};

io! {
    /// `P A Pᵀ = L Lᵀ`
    pub struct CholeskyIo<'f, T> {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// `(..., length)`: the factor, supernode by supernode, of as many elements as the pattern's analysis says
        factor: Ret<'f, T>,
        /// `(...)`: 0, or the column, counted from 1, at which the matrix is not positive definite
        info: Ret<'f, i32>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_cholesky`: the Cholesky factor of each sparse symmetric matrix of a batch, rows and columns in an order in
/// which it stays sparse. NaN where the matrix is not positive definite or not finite.
pub struct SparseCholesky;

impl Op for SparseCholesky {
    const TARGET: &'static str = "sparse_cholesky";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseCholesky {
    type Io<'f> = CholeskyIo<'f, T>;

    fn run(mut io: CholeskyIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let symbolic = &state.symbolic;
        let (batch, count, [_]) = io.a.split_dims()?;
        let (nnz, len) = (symbolic.pattern().nnz(), symbolic.factor_len());
        io.a.expect_batch_dims(batch, &[nnz as i64])?;
        io.factor.expect_batch_dims(batch, &[len as i64])?;
        io.info.expect_dims(batch)?;
        let a = io.a.as_slice()?;
        let factors = split(io.factor.as_mut_slice()?, len, count).enumerate();
        let items = factors.zip(io.info.as_mut_slice()?);
        for_each(cx, items, |((at, factor), info)| {
            *info = symbolic.cholesky(&a[at * nnz..][..nnz], factor)?;
            Ok(())
        })
    }
}

io! {
    /// The entries of `L`.
    pub struct FactorValuesIo<'f, T> {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., entries)`: the values in compressed columns, in the order of elimination
        values: Ret<'f, T>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_factor_values`: the values of the Cholesky factor in compressed columns, of the pattern that the matrix's
/// pattern leads to.
pub struct SparseFactorValues;

impl Op for SparseFactorValues {
    const TARGET: &'static str = "sparse_factor_values";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseFactorValues {
    type Io<'f> = FactorValuesIo<'f, T>;

    fn run(mut io: FactorValuesIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let (batch, count, [_]) = io.factor.split_dims()?;
        let (len, places) = (state.symbolic.factor_len(), state.factor_places());
        io.factor.expect_batch_dims(batch, &[len as i64])?;
        io.values.expect_batch_dims(batch, &[places.len() as i64])?;
        let factors = io.factor.as_slice()?;
        let values = split(io.values.as_mut_slice()?, places.len(), count).enumerate();
        for_each(cx, values, |(at, values)| {
            let factor = &factors[at * len..][..len];
            for (value, &place) in values.iter_mut().zip(places) {
                *value = factor[place];
            }
            Ok(())
        })
    }
}

keeps! { SymmetricSetup: SparseCholesky SparseFactorValues }
