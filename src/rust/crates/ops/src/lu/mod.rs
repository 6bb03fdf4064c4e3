//! LU factorisation.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod host;
pub(crate) mod jaxlib;
mod operands;
pub(crate) mod permutation;

use crate::op::op;
use crate::platform::{Call, MemoryAccess, Results};
use crate::shape;
use xla_ffi::{AnyBuffer, Arg, Cx, Kernel, MinRank, Result, Ret, Scalar};

op! {
    /// `lu`: LU factorisation with partial pivoting, `P A = L U`, of each matrix of a batch. A singular
    /// matrix has one like any other; a matrix with NaN or an infinity becomes NaN, its pivots 1, 2, ….
    Lu: LuIo = "lu" of RealAndComplex {
        /// `(..., m, n)`, column-major matrices
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `U` on and above the diagonal, `L` without its diagonal of ones below
        lu: Ret<'f, T>,
        /// `(..., min(m, n))`: row `i` was exchanged with row `pivots[i]`, counted from 1
        pivots: Ret<'f, i32>,
    }
}

/// A platform with LU factorisation in `T`.
///
/// The operands' shapes have been checked. What cannot be computed becomes NaN in the matrix concerned
/// and is not an error.
pub trait LuSolver<T: Scalar>: MemoryAccess {
    /// `P A = L U` of `a`, with partial pivoting, to the first of the results, which may have its memory. The second one, the pivots, holds `shape.rank()` row numbers per matrix,
    /// counted from 1: row `i` was exchanged with row `pivots[i]`.
    ///
    /// # Errors
    /// The platform's own.
    fn getrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        results: Results<'_, '_, 2>,
    ) -> Result<()>;
}

impl<T: Scalar, P: LuSolver<T>> Kernel<P, T> for Lu {
    type Io<'f> = LuIo<'f, T>;

    fn run(mut io: LuIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (shape, batch) = shape::matrices(&io.a)?;
        io.lu.expect_dims(io.a.dims())?;
        io.pivots.expect_batch_dims(batch, &[shape.rank().into()])?;
        P::getrf((cx, shape), &io.a, [&mut io.lu, &mut io.pivots])
    }
}
