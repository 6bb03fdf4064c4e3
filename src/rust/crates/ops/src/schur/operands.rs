//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use xla_ffi::{Arg, Attr, MinRank, Ret};

variants! {
    /// `A = Z T Zᴴ`.
    {
        /// `(..., n, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: triangular, of real matrices but for blocks of two rows, one for each
        /// conjugate pair of eigenvalues; shares `x`'s memory
        pub(super) t: Ret<'f, T>,
        /// `(..., n, n)`: the Schur vectors as columns
        pub(super) z: Ret<'f, T>,
    }
    GeesIo {
        /// `(..., n)`: the real parts of the eigenvalues
        pub(super) wr: Ret<'f, T>,
        /// `(..., n)`: the imaginary parts
        pub(super) wi: Ret<'f, T>,
    }
    GeesComplexIo {
        /// `(..., n)`: the eigenvalues
        pub(super) w: Ret<'f, T>,
    };
    {
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
