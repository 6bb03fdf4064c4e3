//! Tridiagonal form.

use super::cuda;
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{io, AnyBufferMut, Arg, Attr, Cx, MinRank, Result, Ret, Scalar};

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

crate::cusolver::target! {
    /// Reduction of Hermitian matrices to tridiagonal form.
    Sytrd: SytrdIo = "cusolver_sytrd_ffi" by sytrd
}

fn sytrd<T: Element>(mut io: SytrdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let beside = i64::from(shape.rows - 1).max(0);
    for (part, length) in [(&io.d, shape.rows.into()), (&io.e, beside)] {
        part.expect_dtype(T::Real::DTYPE)?;
        part.expect_batch_dims(batch, &[length])?;
    }
    io.tau.expect_batch_dims(batch, &[beside])?;
    io.info.expect_dims(batch)?;
    Cuda::copy(cx, &io.x, &mut io.packed)?;
    let a = DeviceSliceMut::<T>::of(&mut io.packed)?;
    let parts = (
        DeviceSliceMut::of(&mut io.d)?,
        DeviceSliceMut::of(&mut io.e)?,
        DeviceSliceMut::of(&mut io.tau)?,
    );
    let info = DeviceSliceMut::of(&mut io.info)?;
    let triangle = crate::cusolver::triangle(*io.lower);
    cuda::sytrd((cx, shape), triangle, a, parts, info)
}
