//! Tridiagonal form.

use super::cuda;
use super::operands::{self, CudaSytrdIo};
use crate::cusolver::copied;
use ::cuda::routines::tridiagonal::Parts;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{Cx, Result};

crate::cusolver::target! {
    /// Reduction of Hermitian matrices to tridiagonal form.
    Sytrd: CudaSytrdIo = "cusolver_sytrd_ffi" by sytrd
}

fn sytrd<T: Element>(mut io: CudaSytrdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let shape = operands::shape::<T, T::Real>(&io.x, [&io.d, &io.e], &io.tau, &io.info)?;
    let a = copied::<T>(cx, &io.x, &mut io.packed)?;
    let parts = Parts {
        d: DeviceSliceMut::of(&mut io.d)?,
        e: DeviceSliceMut::of(&mut io.e)?,
        tau: DeviceSliceMut::of(&mut io.tau)?,
    };
    let info = DeviceSliceMut::of(&mut io.info)?;
    let triangle = crate::cusolver::triangle(*io.lower);
    cuda::sytrd((cx, shape), triangle, a, parts, info)
}
