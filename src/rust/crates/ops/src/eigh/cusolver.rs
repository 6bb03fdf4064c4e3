//! Eigenvalues of Hermitian matrices.

use super::cuda::{self, Method};
use super::operands::{self, CudaSyevdIo};
use ::cuda::{Changed, Cuda, DeviceSliceMut, Element};
use xla_ffi::{Cx, Error, Operand, OperandKind, Result};

crate::cusolver::target! {
    /// Eigenvalues and eigenvectors of Hermitian matrices.
    Syevd: CudaSyevdIo = "cusolver_syevd_ffi" by syevd
}

fn syevd<T: Element>(mut io: CudaSyevdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let shape = operands::shape::<T, T::Real>(&io.x, &io.w, &io.info)?;
    let method = match *io.algorithm {
        0 => Method::Default,
        1 => Method::DivideAndConquer,
        2 => Method::Jacobi,
        other => {
            let operand = Operand::new(OperandKind::Attribute, "algorithm");
            return Err(Error::mismatch(operand, "be 0, 1 or 2", other));
        }
    };
    let a = Changed::<T>::new(&io.x, &mut io.v)?;
    let w = DeviceSliceMut::of(&mut io.w)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    let how = (method, crate::cusolver::triangle(*io.lower));
    cuda::syevd((cx, shape), how, a, w, Some(info))
}
