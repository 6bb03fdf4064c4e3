//! Eigenvalues of Hermitian matrices.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod host;
pub(crate) mod jaxlib;
mod operands;

use crate::letter;
use crate::op::op;
use crate::platform::{Call, MemoryAccess, Results};
use crate::shape;
use matrices::Triangle;
use xla_ffi::{
    AnyAttr, AnyBuffer, AnyBufferMut, Arg, Attr, Cx, Kernel, MinRank, Result, Ret, Scalar,
};

op! {
    /// `eigh`: eigenvalues and eigenvectors, `A = V diag(W) Vᴴ`, of each Hermitian (or real symmetric)
    /// matrix of a batch, of which one triangle is read. NaN where it has NaN or an infinity, or the iteration does not
    /// converge.
    Eigh: EighIo = "eigh" of RealAndComplex {
        /// `(..., n, n)`, column-major Hermitian matrices
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the eigenvectors as columns
        v: Ret<'f, T>,
        /// `(..., n)`: the eigenvalues, ascending; real
        w: AnyBufferMut<'f>,
        /// the triangle that is read: "L" (default) or "U", as text or as one ui8 letter
        uplo: Attr<Option<AnyAttr<'f>>>,
    }
}

/// A platform with eigenvalues of Hermitian matrices in `T`.
///
/// The operands' shapes have been checked. What cannot be computed becomes NaN in the matrix concerned
/// and is not an error.
pub trait EighSolver<T: Scalar>: MemoryAccess {
    /// `T`, or the type of its parts.
    type Real: Scalar;

    /// `A = V diag(w) Vᴴ` of Hermitian matrices of which one triangle is read, to the first of the results,
    /// which may have the memory of `a`; the second one, `w`, is real and ascending.
    ///
    /// # Errors
    /// The platform's own.
    fn eigh(
        call: Call<'_, '_, Self>,
        a_and_uplo: (&AnyBuffer<'_>, Triangle),
        results: Results<'_, '_, 2>,
    ) -> Result<()>;
}

impl<T: Scalar, P: EighSolver<T>> Kernel<P, T> for Eigh {
    type Io<'f> = EighIo<'f, T>;

    fn run(mut io: EighIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (shape, batch) = shape::square(&io.a)?;
        let triangle = letter::triangle_or_lower("uplo", *io.uplo)?;
        io.w.expect_dtype(P::Real::DTYPE)?;
        io.v.expect_dims(io.a.dims())?;
        io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
        P::eigh((cx, shape), (&io.a, triangle), [&mut io.v, &mut io.w])
    }
}
