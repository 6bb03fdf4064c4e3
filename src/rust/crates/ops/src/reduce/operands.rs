//! The operands of jaxlib's targets.

use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, MinRank, Result, Ret, Scalar};

/// On a GPU the attribute is another one.
macro_rules! sytrd_io {
    ($name:ident, $($(#[doc = $doc:literal])* $attr:ident: $type:ty),*) => {
        io! {
            /// `Qᴴ A Q` tridiagonal.
            pub struct $name<'f, T> {
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
                $($(#[doc = $doc])* pub(super) $attr: Attr<$type>,)*
            }
        }

        impl<T: Scalar> $name<'_, T> {
            /// The matrices, once the results are found to have their shapes; `R` is the type of the
            /// elements' parts.
            pub(super) fn shape<R: Scalar>(&self) -> Result<Matrices> {
                let (shape, batch) = shape::square(&self.x)?;
                let beside = i64::from(shape.rows - 1).max(0);
                for (part, length) in [(&self.d, shape.rows.into()), (&self.e, beside)] {
                    part.expect_dtype(R::DTYPE)?;
                    part.expect_batch_dims(batch, &[length])?;
                }
                self.tau.expect_batch_dims(batch, &[beside])?;
                self.info.expect_dims(batch)?;
                Ok(shape)
            }
        }
    };
}

sytrd_io! {
    SytrdIo,
    /// the triangle that is read and written: L or U
    uplo: u8
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

sytrd_io! {
    CudaSytrdIo,
    /// whether the lower triangle is read and written, else the upper one
    lower: bool
}
