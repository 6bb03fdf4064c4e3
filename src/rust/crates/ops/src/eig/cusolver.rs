//! Eigenvalues of general matrices.

use super::cuda;
use super::operands::CudaGeevIo;
use crate::cusolver::copied;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{Cx, Error, Operand, OperandKind, Result, Scalar};

crate::cusolver::target! {
    /// Eigenvalues and eigenvectors of general matrices.
    Geev: CudaGeevIo = "cusolver_geev_ffi" by geev
}

fn geev<T: Element>(mut io: CudaGeevIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
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
    let a = copied::<T>(cx, &io.x, &mut io.scratch)?;
    let w = DeviceSliceMut::of(&mut io.w)?;
    let vl = DeviceSliceMut::of(&mut io.vl)?;
    let vr = DeviceSliceMut::of(&mut io.vr)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    let wanted = (*io.left, *io.right);
    cuda::geev((cx, shape), wanted, a, w, (vl, vr), info)
}
