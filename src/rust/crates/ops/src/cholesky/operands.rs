//! The operands of jaxlib's targets.

use xla_ffi::{io, Arg, Attr, MinRank, Ret};

/// On a GPU the attribute is another one.
macro_rules! potrf_io {
    ($name:ident, $($(#[doc = $doc:literal])* $attr:ident: $type:ty),*) => {
        io! {
            /// `A = L Lᴴ` or `A = Uᴴ U`.
            pub struct $name<'f, T> {
                /// `(..., n, n)`, Hermitian and positive definite
                pub(super) x: Arg<'f, T, MinRank<2>>,
                /// `(..., n, n)`: the factor in its triangle, on a CPU the other one as in `x`; shares `x`'s memory
                pub(super) factor: Ret<'f, T>,
                /// `(...)`: 0, or the order of the first minor that is not positive definite
                pub(super) info: Ret<'f, i32>,
                $($(#[doc = $doc])* pub(super) $attr: Attr<$type>,)*
            }
        }
    };
}

potrf_io! {
    PotrfIo,
    /// the triangle that is read and written: L or U
    uplo: u8
}

potrf_io! {
    CudaPotrfIo,
    /// whether the lower triangle is read and written, else the upper one
    lower: bool
}
