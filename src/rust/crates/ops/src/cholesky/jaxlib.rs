//! Cholesky factorisation.

use super::host;
use crate::letter;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use xla_ffi::{io, Arg, Attr, Cx, Host, MinRank, Result, Ret};

io! {
    /// `A = L Lᴴ` or `A = Uᴴ U`.
    pub struct PotrfIo<'f, T> {
        /// `(..., n, n)`, Hermitian and positive definite
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the factor in its triangle, the other one as in `x`; shares `x`'s memory
        factor: Ret<'f, T>,
        /// `(...)`: 0, or the order of the first minor that is not positive definite
        info: Ret<'f, i32>,
        /// the triangle that is read and written: L or U
        uplo: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Cholesky factorisation.
    Potrf: PotrfIo = "potrf" by potrf
}

fn potrf<T: HostScalar>(mut io: PotrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    io.info.expect_dims(batch)?;
    let factor: Changed<T> = Changed::new(&io.x, &mut io.factor)?;
    let info = io.info.as_mut_slice()?;
    host::potrf((cx, shape), triangle, factor, info, |_, _| ())
}
