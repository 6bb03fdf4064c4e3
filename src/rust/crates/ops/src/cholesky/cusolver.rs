//! Cholesky factorisation.

use super::cuda;
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use xla_ffi::{io, Arg, Attr, Cx, MinRank, Result, Ret};

io! {
    /// `A = L Lᴴ` or `A = Uᴴ U`.
    pub struct PotrfIo<'f, T> {
        /// `(..., n, n)`, Hermitian and positive definite
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the factor in its triangle; shares `x`'s memory
        factor: Ret<'f, T>,
        /// `(...)`: 0, or the order of the first minor that is not positive definite
        info: Ret<'f, i32>,
        /// whether the lower triangle is read and written, else the upper one
        lower: Attr<bool>,
    }
}

crate::cusolver::target! {
    /// Cholesky factorisation.
    Potrf: PotrfIo = "cusolver_potrf_ffi" by potrf
}

fn potrf<T: Element>(mut io: PotrfIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    io.info.expect_dims(batch)?;
    Cuda::copy(cx, &io.x, &mut io.factor)?;
    let a = DeviceSliceMut::<T>::of(&mut io.factor)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    cuda::potrf((cx, shape), crate::cusolver::triangle(*io.lower), a, info)
}
