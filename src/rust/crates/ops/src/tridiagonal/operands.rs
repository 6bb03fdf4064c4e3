//! The operands of jaxlib's targets.

use xla_ffi::{io, Arg, MinRank, Ret};

io! {
    /// `A S = B`.
    pub struct GtsvIo<'f, T> {
        /// `(..., n)`: below the diagonal, from the second place on
        pub(super) dl: Arg<'f, T>,
        /// `(..., n)`: the diagonal
        pub(super) d: Arg<'f, T>,
        /// `(..., n)`: above it, up to the last place but one
        pub(super) du: Arg<'f, T>,
        /// `(..., n, k)`
        pub(super) b: Arg<'f, T, MinRank<2>>,
        /// overwritten; shares `dl`'s memory
        pub(super) dl_out: Ret<'f, T>,
        /// overwritten; shares `d`'s memory
        pub(super) d_out: Ret<'f, T>,
        /// overwritten; shares `du`'s memory
        pub(super) du_out: Ret<'f, T>,
        /// `(..., n, k)`: `S`; shares `b`'s memory
        pub(super) solution: Ret<'f, T>,
        /// `(...)`: 0, or the first row where the elimination meets a zero
        pub(super) info: Ret<'f, i32>,
    }
}
