//! Singular value decomposition.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod host;
mod host_gesvd;
pub(crate) mod jaxlib;
mod operands;

use crate::op::op;
use crate::platform::{Call, MemoryAccess, Results};
use crate::shape;
use xla_ffi::{AnyBuffer, AnyBufferMut, Arg, Attr, Cx, Kernel, MinRank, Result, Ret, Scalar};

op! {
    /// `svd`: thin singular value decomposition, `A = U diag(S) Vᴴ`, of each matrix of a batch. NaN where
    /// a matrix has NaN or an infinity, or the iteration does not converge.
    Svd: SvdIo = "svd" of RealAndComplex {
        /// `(..., m, n)`, column-major matrices
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., m, min(m, n))`: the left singular vectors
        u: Ret<'f, T>,
        /// `(..., min(m, n))`: the singular values, descending; real
        s: AnyBufferMut<'f>,
        /// `(..., min(m, n), n)`: the right singular vectors, conjugated, as rows
        vt: Ret<'f, T>,
        /// whether `a`, `u` and `vt` are row-major
        transposed: Attr<bool> = false,
    }
}

/// A platform with singular values in `T`.
///
/// The operands' shapes have been checked. What cannot be computed becomes NaN in the matrix concerned
/// and is not an error.
pub trait SvdSolver<T: Scalar>: MemoryAccess {
    /// `T`, or the type of its parts.
    type Real: Scalar;

    /// `A = U diag(s) Vᴴ` with `k = shape.rank()` columns of `U` and rows of `Vᴴ`; the results
    /// are `U`, `s`, which is real and descending, and `Vᴴ`.
    ///
    /// # Errors
    /// The platform's own.
    fn svd(call: Call<'_, '_, Self>, a: &AnyBuffer<'_>, out: Results<'_, '_, 3>) -> Result<()>;
}

impl<T: Scalar, P: SvdSolver<T>> Kernel<P, T> for Svd {
    type Io<'f> = SvdIo<'f, T>;

    fn run(mut io: SvdIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (shape, batch) = shape::matrices(&io.a)?;
        let [m, n, k] = [shape.rows, shape.cols, shape.rank()].map(i64::from);
        io.s.expect_dtype(P::Real::DTYPE)?;
        io.u.expect_batch_dims(batch, &[m, k])?;
        io.s.expect_batch_dims(batch, &[k])?;
        io.vt.expect_batch_dims(batch, &[k, n])?;
        if *io.transposed {
            // Row-major `A` is column-major `Aᵀ = conj(V) diag(S) Uᵀ`, whose factors are row-major
            // `Vᴴ` and `U`.
            let call = (cx, shape.transposed());
            return P::svd(call, &io.a, [&mut io.vt, &mut io.s, &mut io.u]);
        }
        P::svd((cx, shape), &io.a, [&mut io.u, &mut io.s, &mut io.vt])
    }
}
