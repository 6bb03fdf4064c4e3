//! Eigenvalues of Hermitian matrices.

use super::cuda::{self, Method};
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{
    io, AnyBufferMut, Arg, Attr, Cx, Error, MinRank, Operand, OperandKind, Result, Ret, Scalar,
};

io! {
    /// `A = V diag(w) Vᴴ`.
    pub struct SyevdIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the eigenvectors as columns; shares `x`'s memory
        v: Ret<'f, T>,
        /// `(..., n)`, ascending; real
        w: AnyBufferMut<'f>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// 0: as the sizes say, 1: divide and conquer, 2: Jacobi's method
        algorithm: Attr<u8>,
        /// whether the lower triangle is read, else the upper one
        lower: Attr<bool>,
    }
}

crate::cusolver::target! {
    /// Eigenvalues and eigenvectors of Hermitian matrices.
    Syevd: SyevdIo = "cusolver_syevd_ffi" by syevd
}

fn syevd<T: Element>(mut io: SyevdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let method = match *io.algorithm {
        0 => Method::Default,
        1 => Method::DivideAndConquer,
        2 => Method::Jacobi,
        other => {
            let operand = Operand::new(OperandKind::Attribute, "algorithm");
            return Err(Error::mismatch(operand, "be 0, 1 or 2", other));
        }
    };
    io.w.expect_dtype(T::Real::DTYPE)?;
    io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
    io.info.expect_dims(batch)?;
    Cuda::copy(cx, &io.x, &mut io.v)?;
    let a = DeviceSliceMut::<T>::of(&mut io.v)?;
    let w = DeviceSliceMut::of(&mut io.w)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    let how = (method, crate::cusolver::triangle(*io.lower));
    cuda::syevd((cx, shape), how, a, w, Some(info))
}
