//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, MinRank, Result, Ret, Scalar};

variants! {
    /// `Qᴴ A Q` tridiagonal.
    {
        /// `(..., n, n)`, Hermitian
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the tridiagonal form and the reflectors; shares `x`'s memory
        pub(super) packed: Ret<'f, T>,
        /// `(..., n)`: the diagonal; real
        pub(super) d: AnyBufferMut<'f>,
        /// `(..., n - 1)`: beside it; real
        pub(super) e: AnyBufferMut<'f>,
        /// `(..., n - 1)`
        pub(super) tau: Ret<'f, T>,
        /// `(...)`: 0
        pub(super) info: Ret<'f, i32>,
    }
    SytrdIo {
        /// the triangle that is read and written: L or U
        pub(super) uplo: Attr<u8>,
    }
    CudaSytrdIo {
        /// whether the lower triangle is read and written, else the upper one
        pub(super) lower: Attr<bool>,
    }
}

/// The matrices of `sytrd`, once the results are found to have their shapes; `R` is the type of the
/// elements' parts.
pub(super) fn shape<T: Scalar, R: Scalar>(
    x: &Arg<'_, T, MinRank<2>>,
    [d, e]: [&AnyBufferMut<'_>; 2],
    tau: &Ret<'_, T>,
    info: &Ret<'_, i32>,
) -> Result<Matrices> {
    let (shape, batch) = shape::square(x)?;
    let beside = i64::from(shape.rows - 1).max(0);
    for (part, length) in [(d, shape.rows.into()), (e, beside)] {
        part.expect_dtype(R::DTYPE)?;
        part.expect_batch_dims(batch, &[length])?;
    }
    tau.expect_batch_dims(batch, &[beside])?;
    info.expect_dims(batch)?;
    Ok(shape)
}

io! {
    /// `Qᴴ A Q` of Hessenberg form.
    pub struct GehrdIo<'f, T> {
        /// `(..., n, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the Hessenberg form and the reflectors; shares `x`'s memory
        pub(super) packed: Ret<'f, T>,
        /// `(..., n - 1)`
        pub(super) tau: Ret<'f, T>,
        /// `(...)`: 0
        pub(super) info: Ret<'f, i32>,
        /// the first row, counted from 1, that is not of the form already
        pub(super) low: Attr<i32>,
        /// the last one
        pub(super) high: Attr<i32>,
    }
}
