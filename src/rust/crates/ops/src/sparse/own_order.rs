//! The Cholesky factor in the matrix's own order, and its derivatives.

use super::directions::read_directions;
use super::state::{analysis, for_each, keeps, kept};
use crate::platform::host::batch::split;
use ::sparse::Number;
use xla_ffi::{
    io, Arg, Attr, Cx, Floats, Host, Kernel, MinRank, Op, RemainingArgs, Result, Ret, Scalar,
};

io! {
    /// `L` of `A = L Lᵀ`, or its mixed derivative along directions.
    pub struct OwnFactorIo<'f, T> {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: up to four directions, symmetric matrices of the same pattern
        directions: RemainingArgs<'f>,
        /// `(..., entries)`: the values in compressed columns, with the entries that the elimination fills in
        values: Ret<'f, T>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_own_factor`: the Cholesky factor of each sparse symmetric matrix of a batch, rows and columns in their own
/// order, or its mixed derivative in up to four directions. NaN where the matrix is not positive definite.
pub struct SparseOwnFactor;

impl Op for SparseOwnFactor {
    const TARGET: &'static str = "sparse_own_factor";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseOwnFactor {
    type Io<'f> = OwnFactorIo<'f, T>;

    fn run(mut io: OwnFactorIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let own = state.own_order();
        let (batch, count, [_]) = io.a.split_dims()?;
        let (nnz, entries) = (state.symbolic.pattern().nnz(), own.rows().len());
        io.a.expect_batch_dims(batch, &[nnz as i64])?;
        io.values.expect_batch_dims(batch, &[entries as i64])?;
        let directions = read_directions(Vec::new(), io.directions, io.a.dims())?;
        let a = io.a.as_slice()?;
        let items = split(io.values.as_mut_slice()?, entries, count).enumerate();
        for_each(cx, items, |(at, values)| {
            let here = at * nnz..(at + 1) * nnz;
            let along: Vec<&[T]> = directions.iter().map(|d| &d[here.clone()]).collect();
            own.factor(&a[here], &along, values)
        })
    }
}

io! {
    /// The derivative by `A` of the sum of weights times `L`, or its mixed derivative along directions.
    pub struct PullbackIo<'f, T> {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// `(..., entries)`: weights, as `sparse_own_factor` gives the factor
        weights: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: up to four directions, symmetric matrices of the same pattern
        directions: RemainingArgs<'f>,
        /// shape of `a`: the derivatives by the entries
        slope: Ret<'f, T>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_own_factor_pullback`: the derivative, by the entries of a sparse symmetric matrix, of the sum of weights times
/// the entries of its Cholesky factor as `sparse_own_factor` gives it, or the mixed derivative of that in up to four
/// directions. NaN where the matrix is not positive definite.
pub struct SparseOwnFactorPullback;

impl Op for SparseOwnFactorPullback {
    const TARGET: &'static str = "sparse_own_factor_pullback";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseOwnFactorPullback {
    type Io<'f> = PullbackIo<'f, T>;

    fn run(mut io: PullbackIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let own = state.own_order();
        let (batch, count, [_]) = io.a.split_dims()?;
        let (nnz, entries) = (state.symbolic.pattern().nnz(), own.rows().len());
        io.a.expect_batch_dims(batch, &[nnz as i64])?;
        io.weights.expect_batch_dims(batch, &[entries as i64])?;
        io.slope.expect_dims(io.a.dims())?;
        let directions = read_directions(Vec::new(), io.directions, io.a.dims())?;
        let (a, weights) = (io.a.as_slice()?, io.weights.as_slice()?);
        let items = split(io.slope.as_mut_slice()?, nnz, count).enumerate();
        for_each(cx, items, |(at, slope)| {
            let here = at * nnz..(at + 1) * nnz;
            let along: Vec<&[T]> = directions.iter().map(|d| &d[here.clone()]).collect();
            own.pullback(&a[here], &weights[at * entries..][..entries], &along, slope)
        })
    }
}

keeps! { SymmetricSetup: SparseOwnFactor SparseOwnFactorPullback }
