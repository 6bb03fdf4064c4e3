//! The operands of jaxlib's targets.

use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, MinRank, Result, Ret, Scalar};

/// On a GPU the attributes are others.
macro_rules! syevd_io {
    ($name:ident, $($(#[doc = $doc:literal])* $attr:ident: $type:ty),*) => {
        io! {
            /// `A = V diag(w) Vᴴ`.
            pub struct $name<'f, T> {
                /// `(..., n, n)`
                pub(super) x: Arg<'f, T, MinRank<2>>,
                /// `(..., n, n)`: the eigenvectors as columns; shares `x`'s memory
                pub(super) v: Ret<'f, T>,
                /// `(..., n)`, ascending; real
                pub(super) w: AnyBufferMut<'f>,
                /// `(...)`: 0, or not if there is no result
                pub(super) info: Ret<'f, i32>,
                $($(#[doc = $doc])* pub(super) $attr: Attr<$type>,)*
            }
        }

        impl<T: Scalar> $name<'_, T> {
            /// The matrices, once the results are found to have their shapes; `R` is the type of the
            /// elements' parts.
            pub(super) fn shape<R: Scalar>(&self) -> Result<Matrices> {
                let (shape, batch) = shape::square(&self.x)?;
                self.w.expect_dtype(R::DTYPE)?;
                self.w.expect_batch_dims(batch, &[shape.rows.into()])?;
                self.info.expect_dims(batch)?;
                Ok(shape)
            }
        }
    };
}

syevd_io! {
    SyevdIo,
    /// V: with eigenvectors, N: without (`v` is then overwritten)
    mode: u8,
    /// the triangle that is read: L or U
    uplo: u8
}

syevd_io! {
    CudaSyevdIo,
    /// 0: as the sizes say, 1: divide and conquer, 2: Jacobi's method
    algorithm: u8,
    /// whether the lower triangle is read, else the upper one
    lower: bool
}
