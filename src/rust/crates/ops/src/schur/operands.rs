//! The operands of jaxlib's targets.

use xla_ffi::{io, Arg, Attr, MinRank, Ret};

/// Real matrices have the eigenvalues in two parts.
macro_rules! gees_io {
    ($name:ident, $($(#[doc = $doc:literal])* $w:ident),*) => {
        io! {
            /// `A = Z T Zᴴ`.
            pub struct $name<'f, T> {
                /// `(..., n, n)`
                pub(super) x: Arg<'f, T, MinRank<2>>,
                /// `(..., n, n)`: triangular, of real matrices but for blocks of two rows, one for each
                /// conjugate pair of eigenvalues; shares `x`'s memory
                pub(super) t: Ret<'f, T>,
                /// `(..., n, n)`: the Schur vectors as columns
                pub(super) z: Ret<'f, T>,
                $($(#[doc = $doc])* pub(super) $w: Ret<'f, T>,)*
                /// `(...)`: the number of eigenvalues that sorting selected, 0
                pub(super) selected: Ret<'f, i32>,
                /// `(...)`: 0, or not if there is no result
                pub(super) info: Ret<'f, i32>,
                /// V: with Schur vectors, N: without
                pub(super) mode: Attr<u8>,
                /// N: the eigenvalues are not sorted
                pub(super) sort: Attr<u8>,
            }
        }
    };
}

gees_io! {
    GeesIo,
    /// `(..., n)`: the real parts of the eigenvalues
    wr,
    /// `(..., n)`: the imaginary parts
    wi
}

gees_io! {
    GeesComplexIo,
    /// `(..., n)`: the eigenvalues
    w
}
