//! Tridiagonal form.

use super::cuda;
use super::operands::CudaSytrdIo;
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{Cx, Result, Scalar};

crate::cusolver::target! {
    /// Reduction of Hermitian matrices to tridiagonal form.
    Sytrd: CudaSytrdIo = "cusolver_sytrd_ffi" by sytrd
}

fn sytrd<T: Element>(mut io: CudaSytrdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
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
