//! Products of a sparse matrix of any shape and dense ones.

use super::state::{columns, for_each, keeps, kept};
use crate::platform::host::batch::split;
use ::sparse::Number;
use xla_ffi::{io, Arg, Attr, Cx, Floats, Host, Kernel, MinRank, Op, Result, Ret, Scalar};

io! {
    /// `y = A x`
    pub struct MatmulIo<'f, T> {
        /// `(..., nnz)`: the values of `A` at the pattern's entries
        values: Arg<'f, T, MinRank<1>>,
        /// `(..., ncol, k)`, or `(..., nrow, k)` where transposed: column-major matrices
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., nrow, k)`, or `(..., ncol, k)` where transposed: column-major matrices
        y: Ret<'f, T>,
        /// whether the product is with the transpose of `A`
        transpose: Attr<bool> = false,
        /// how many rows `A` has
        nrow: Attr<i64>,
        /// how many columns `A` has
        ncol: Attr<i64>,
        /// where each column begins among the entries, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_matmul`: the product of each sparse matrix of a batch, or of its transpose, and a dense one.
pub struct SparseMatmul;

impl Op for SparseMatmul {
    const TARGET: &'static str = "sparse_matmul";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseMatmul {
    type Io<'f> = MatmulIo<'f, T>;

    fn run(mut io: MatmulIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let known = || columns(*io.nrow, *io.ncol, &io.colptr, &io.rowind);
        let (pattern, transpose) = (kept(cx, known)?, *io.transpose);
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
        for_each(cx, items, |(at, y)| {
            let (values, x) = (&values[at * nnz..][..nnz], &x[at * from..][..from]);
            pattern.product(values, transpose, x, y);
            Ok(())
        })
    }
}

io! {
    /// `U Vᵀ` at the entries of a pattern.
    pub struct SampledProductIo<'f, T> {
        /// `(..., nrow, k)`, column-major matrices
        u: Arg<'f, T, MinRank<2>>,
        /// `(..., ncol, k)`, column-major matrices
        v: Arg<'f, T, MinRank<2>>,
        /// `(..., nnz)`: the values at the pattern's entries
        values: Ret<'f, T>,
        /// how many rows the pattern has
        nrow: Attr<i64>,
        /// how many columns it has
        ncol: Attr<i64>,
        /// where each column begins among the entries, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_sampled_product`: the product of a dense matrix and the transpose of another one, where a pattern has
/// entries.
pub struct SparseSampledProduct;

impl Op for SparseSampledProduct {
    const TARGET: &'static str = "sparse_sampled_product";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseSampledProduct {
    type Io<'f> = SampledProductIo<'f, T>;

    fn run(mut io: SampledProductIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let known = || columns(*io.nrow, *io.ncol, &io.colptr, &io.rowind);
        let pattern = kept(cx, known)?;
        let (batch, count, [_, k]) = io.u.split_dims()?;
        let (nnz, nrow, ncol) = (pattern.nnz(), pattern.nrow(), pattern.ncol());
        io.u.expect_batch_dims(batch, &[nrow as i64, k as i64])?;
        io.v.expect_batch_dims(batch, &[ncol as i64, k as i64])?;
        io.values.expect_batch_dims(batch, &[nnz as i64])?;
        let (u, v) = (io.u.as_slice()?, io.v.as_slice()?);
        let items = split(io.values.as_mut_slice()?, nnz, count).enumerate();
        for_each(cx, items, |(at, values)| {
            let u = &u[at * nrow * k..][..nrow * k];
            let v = &v[at * ncol * k..][..ncol * k];
            pattern.sampled_product(u, v, values);
            Ok(())
        })
    }
}

keeps! { ColumnsSetup: SparseMatmul SparseSampledProduct }
