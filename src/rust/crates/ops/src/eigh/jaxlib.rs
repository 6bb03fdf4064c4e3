//! Eigenvalues of Hermitian matrices.

use super::host;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, Cx, Host, MinRank, Result, Ret, Scalar};

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
        /// V: with eigenvectors, N: without (`v` is then overwritten)
        mode: Attr<u8>,
        /// the triangle that is read: L or U
        uplo: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of Hermitian matrices by divide and conquer.
    Syevd: SyevdIo = "syevd", "heevd" by syevd
}

fn syevd<T: HostScalar>(mut io: SyevdIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let vectors = letter::with_vectors("mode", *io.mode)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    io.w.expect_dtype(T::Real::DTYPE)?;
    io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
    io.info.expect_dims(batch)?;
    io.v.copy_from(&io.x)?;
    let (w, info) = (io.w.as_mut_slice()?, io.info.as_mut_slice()?);
    host::syevd(
        (cx, shape),
        vectors,
        triangle,
        io.v.as_mut_slice()?,
        w,
        info,
    )
}
