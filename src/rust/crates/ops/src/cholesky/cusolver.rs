//! Cholesky factorisation.

use super::cuda;
use super::operands::CudaPotrfIo;
use crate::cusolver::copied;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{Cx, Result};

crate::cusolver::target! {
    /// Cholesky factorisation.
    Potrf: CudaPotrfIo = "cusolver_potrf_ffi" by potrf
}

fn potrf<T: Element>(mut io: CudaPotrfIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    io.info.expect_dims(batch)?;
    let a = copied::<T>(cx, &io.x, &mut io.factor)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    cuda::potrf((cx, shape), crate::cusolver::triangle(*io.lower), a, info)
}
