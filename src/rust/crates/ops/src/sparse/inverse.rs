//! The inverse of a sparse matrix where it has entries, and its derivatives there.

use super::directions::read_directions;
use super::state::{analysis, for_each, keeps, kept};
use crate::platform::host::batch::split;
use ::sparse::Number;
use xla_ffi::{
    io, Arg, Attr, Cx, Floats, Host, Kernel, MinRank, Op, RemainingArgs, Result, Ret, Scalar,
};

io! {
    /// `A⁻¹` at the entries of `A`.
    pub struct InverseIo<'f, T> {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., nnz)`: the values of the inverse at the pattern's entries
        inverse: Ret<'f, T>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_inverse`: of each factored sparse matrix the inverse, where the matrix has entries.
pub struct SparseInverse;

impl Op for SparseInverse {
    const TARGET: &'static str = "sparse_inverse";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseInverse {
    type Io<'f> = InverseIo<'f, T>;

    fn run(mut io: InverseIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let symbolic = &state.symbolic;
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
}

io! {
    /// The mixed derivative of `(A + e1 D1 + … + ek Dk)⁻¹` in `e1`, …, `ek` at 0.
    pub struct DerivativeIo<'f, T> {
        /// `(..., nnz)`: the values of the lower triangle at the pattern's entries
        a: Arg<'f, T, MinRank<1>>,
        /// shape of `a`: a direction, a symmetric matrix of the same pattern
        direction: Arg<'f, T>,
        /// shape of `a`: up to three directions more
        more: RemainingArgs<'f>,
        /// shape of `a`: the derivative at the pattern's entries
        derivative: Ret<'f, T>,
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_inverse_derivative`: the mixed derivative, in up to four directions, of the inverse of a sparse matrix, where
/// the matrix has entries. NaN where the matrix is not positive definite.
pub struct SparseInverseDerivative;

impl Op for SparseInverseDerivative {
    const TARGET: &'static str = "sparse_inverse_derivative";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseInverseDerivative {
    type Io<'f> = DerivativeIo<'f, T>;

    fn run(io: DerivativeIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let symbolic = &state.symbolic;
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
}

keeps! { SymmetricSetup: SparseInverse SparseInverseDerivative }
