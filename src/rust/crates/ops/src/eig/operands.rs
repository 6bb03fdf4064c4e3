//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, MinRank, Ret};

variants! {
    /// `A V = V diag(w)`, of real matrices with `w = wr + i wi`.
    {
        /// `(..., n, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
    }
    GeevIo {
        /// `(..., n)`: the real parts of the eigenvalues
        pub(super) wr: Ret<'f, T>,
        /// `(..., n)`: the imaginary parts; conjugates lie side by side, the positive one first
        pub(super) wi: Ret<'f, T>,
    }
    GeevComplexIo {
        /// `(..., n)`: the eigenvalues
        pub(super) w: Ret<'f, T>,
    };
    {
        /// `(..., n, n)`: the left eigenvectors as columns; complex
        pub(super) vl: AnyBufferMut<'f>,
        /// `(..., n, n)`: the right eigenvectors as columns; complex
        pub(super) vr: AnyBufferMut<'f>,
        /// `(...)`: 0, or not if there is no result
        pub(super) info: Ret<'f, i32>,
        /// V: with left eigenvectors, N: without
        pub(super) compute_left: Attr<u8>,
        /// the same for the right ones
        pub(super) compute_right: Attr<u8>,
    }
}

io! {
    /// `A V = V diag(w)`.
    pub struct CudaGeevIo<'f, T> {
        /// `(..., n, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: overwritten
        pub(super) scratch: Ret<'f, T>,
        /// `(..., n)`: the eigenvalues; complex
        pub(super) w: AnyBufferMut<'f>,
        /// `(..., n, n)`: the left eigenvectors as columns; of a complex pair of a real matrix the
        /// real part, then the imaginary one
        pub(super) vl: Ret<'f, T>,
        /// `(..., n, n)`: the right eigenvectors, likewise
        pub(super) vr: Ret<'f, T>,
        /// `(...)`: 0, or not if there is no result
        pub(super) info: Ret<'f, i32>,
        /// whether left eigenvectors are computed; cuSOLVER cannot
        pub(super) left: Attr<bool>,
        /// whether right eigenvectors are computed
        pub(super) right: Attr<bool>,
    }
}
