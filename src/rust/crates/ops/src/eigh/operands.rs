//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use crate::shape;
use matrices::Matrices;
use xla_ffi::{AnyBufferMut, Arg, Attr, MinRank, Result, Ret, Scalar};

variants! {
    /// `A = V diag(w) Vᴴ`.
    {
        /// `(..., n, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the eigenvectors as columns; shares `x`'s memory
        pub(super) v: Ret<'f, T>,
        /// `(..., n)`, ascending; real
        pub(super) w: AnyBufferMut<'f>,
        /// `(...)`: 0, or not if there is no result
        pub(super) info: Ret<'f, i32>,
    }
    SyevdIo {
        /// V: with eigenvectors, N: without (`v` is then overwritten)
        pub(super) mode: Attr<u8>,
        /// the triangle that is read: L or U
        pub(super) uplo: Attr<u8>,
    }
    CudaSyevdIo {
        /// 0: as the sizes say, 1: divide and conquer, 2: Jacobi's method
        pub(super) algorithm: Attr<u8>,
        /// whether the lower triangle is read, else the upper one
        pub(super) lower: Attr<bool>,
    }
}

/// The matrices, once the results are found to have their shapes; `R` is the type of the elements'
/// parts.
pub(super) fn shape<T: Scalar, R: Scalar>(
    x: &Arg<'_, T, MinRank<2>>,
    w: &AnyBufferMut<'_>,
    info: &Ret<'_, i32>,
) -> Result<Matrices> {
    let (shape, batch) = shape::square(x)?;
    w.expect_dtype(R::DTYPE)?;
    w.expect_batch_dims(batch, &[shape.rows.into()])?;
    info.expect_dims(batch)?;
    Ok(shape)
}
