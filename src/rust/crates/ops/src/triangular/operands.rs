//! The operands of jaxlib's targets.

use xla_ffi::{io, Arg, Attr, MinRank, Ret};

io! {
    /// `op(X) S = Y` or `S op(X) = Y`.
    pub struct TrsmIo<'f, T> {
        /// `(..., m, m)` (left) or `(..., n, n)` (right), triangular
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`
        pub(super) y: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `S`; shares `y`'s memory
        pub(super) solution: Ret<'f, T>,
        /// the side of `X`: L or R
        pub(super) side: Attr<u8>,
        /// the triangle of `X` that is read: L or U
        pub(super) uplo: Attr<u8>,
        /// `op`: N, T (transposed) or C (conjugated, too)
        pub(super) trans_x: Attr<u8>,
        /// U: ones on the diagonal of `X`, which is not read; N: what is there
        pub(super) diag: Attr<u8>,
    }
}
