//! Eigenvalues of general matrices.

use super::cuda;
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{
    io, AnyBufferMut, Arg, Attr, Cx, Error, MinRank, Operand, OperandKind, Result, Ret, Scalar,
};

io! {
    /// `A V = V diag(w)`.
    pub struct GeevIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: overwritten
        scratch: Ret<'f, T>,
        /// `(..., n)`: the eigenvalues; complex
        w: AnyBufferMut<'f>,
        /// `(..., n, n)`: the left eigenvectors as columns; of a complex pair of a real matrix the
        /// real part, then the imaginary one
        vl: Ret<'f, T>,
        /// `(..., n, n)`: the right eigenvectors, likewise
        vr: Ret<'f, T>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// whether left eigenvectors are computed; cuSOLVER cannot
        left: Attr<bool>,
        /// whether right eigenvectors are computed
        right: Attr<bool>,
    }
}

crate::cusolver::target! {
    /// Eigenvalues and eigenvectors of general matrices.
    Geev: GeevIo = "cusolver_geev_ffi" by geev
}

fn geev<T: Element>(mut io: GeevIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    if *io.left {
        let operand = Operand::new(OperandKind::Attribute, "left");
        return Err(Error::mismatch(
            operand,
            "be false: cuSOLVER has right eigenvectors only",
            true,
        ));
    }
    io.scratch.expect_dims(io.x.dims())?;
    io.vl.expect_dims(io.x.dims())?;
    io.vr.expect_dims(io.x.dims())?;
    io.w.expect_dtype(T::Complex::DTYPE)?;
    io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
    io.info.expect_dims(batch)?;
    Cuda::copy(cx, &io.x, &mut io.scratch)?;
    let a = DeviceSliceMut::<T>::of(&mut io.scratch)?;
    let w = DeviceSliceMut::of(&mut io.w)?;
    let vl = DeviceSliceMut::of(&mut io.vl)?;
    let vr = DeviceSliceMut::of(&mut io.vr)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    let wanted = (*io.left, *io.right);
    cuda::geev((cx, shape), wanted, a, w, (vl, vr), info)
}
