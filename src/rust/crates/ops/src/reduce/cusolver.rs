//! Tridiagonal form.

use super::cuda::{self};
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, Element};
use xla_ffi::{
    io, AnyBufferMut, Arg, Attr, Cx, Kernel, MinRank, Op, RealAndComplex, Result, Ret, Scalar,
};

io! {
    /// `Qᴴ A Q` tridiagonal.
    pub struct SytrdIo<'f, T> {
        /// `(..., n, n)`, Hermitian
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the tridiagonal form and the reflectors; shares `x`'s memory
        packed: Ret<'f, T>,
        /// `(..., n)`: the diagonal; real
        d: AnyBufferMut<'f>,
        /// `(..., n - 1)`: beside it; real
        e: AnyBufferMut<'f>,
        /// `(..., n - 1)`
        tau: Ret<'f, T>,
        /// `(...)`: 0
        info: Ret<'f, i32>,
        /// whether the lower triangle is read and written, else the upper one
        lower: Attr<bool>,
    }
}

/// Reduction of Hermitian matrices to tridiagonal form.
pub struct Sytrd;

impl Op for Sytrd {
    const TARGET: &'static str = "cusolver_sytrd_ffi";
    type Dtypes = RealAndComplex;
}

impl<T: Element> Kernel<Cuda, T> for Sytrd {
    type Io<'f> = SytrdIo<'f, T>;

    fn run(mut io: SytrdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
        let (shape, batch) = shape::square(&io.x)?;
        let beside = i64::from(shape.rows - 1).max(0);
        for (part, length) in [(&io.d, shape.rows.into()), (&io.e, beside)] {
            part.expect_dtype(T::Real::DTYPE)?;
            part.expect_batch_dims(batch, &[length])?;
        }
        io.tau.expect_batch_dims(batch, &[beside])?;
        io.info.expect_dims(batch)?;
        Cuda::copy(cx, &io.x, &mut io.packed)?;
        let parts = (io.d.as_mut_ptr(), io.e.as_mut_ptr(), io.tau.as_mut_ptr());
        let (a, info) = (io.packed.as_mut_ptr(), io.info.as_mut_ptr());
        cuda::sytrd::<T>(
            (cx, shape),
            crate::cusolver::triangle(*io.lower),
            a,
            parts,
            info,
        )
    }
}
