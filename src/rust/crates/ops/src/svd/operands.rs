//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, MinRank, Ret};

io! {
    /// `A = U diag(s) Vᴴ`.
    pub struct SvdIo<'f, T> {
        /// `(..., m, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: overwritten; shares `x`'s memory
        pub(super) scratch: Ret<'f, T>,
        /// `(..., min(m, n))`, descending; real
        pub(super) s: AnyBufferMut<'f>,
        /// `(..., m, m)` or `(..., m, min(m, n))`
        pub(super) u: Ret<'f, T, MinRank<2>>,
        /// `(..., n, n)` or `(..., min(m, n), n)`
        pub(super) vt: Ret<'f, T, MinRank<2>>,
        /// `(...)`: 0, or not if there is no result
        pub(super) info: Ret<'f, i32>,
        /// A: all singular vectors, S: the first min(m, n), N: none
        pub(super) mode: Attr<u8>,
    }
}

variants! {
    /// `A = U diag(s) Vᴴ`, or with `transposed` the same of the transposed matrix.
    {
        /// `(..., m, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: overwritten; shares `x`'s memory
        pub(super) scratch: Ret<'f, T>,
        /// `(..., min(m, n))`, descending; real
        pub(super) s: AnyBufferMut<'f>,
    }
    GesvdIo {
        /// `(..., m, m)` or `(..., m, n)`: the left singular vectors as columns; with `transposed`
        /// row-major, the right ones, `(..., n, n)` or `(..., m, n)`
        pub(super) u: Ret<'f, T>,
        /// `(..., n, n)`: the right singular vectors, conjugated, as rows; with `transposed`
        /// row-major, the left ones, `(..., m, m)`
        pub(super) vt: Ret<'f, T>,
        /// whether `x`, `u` and `vt` are row-major, and `m <= n`; else `m >= n`
        pub(super) transposed: Attr<bool> = false,
    }
    GesvdjIo {
        /// `(..., m, m)` or `(..., m, min(m, n))`: the left singular vectors as columns
        pub(super) u: Ret<'f, T>,
        /// `(..., n, n)` or `(..., n, min(m, n))`: the right singular vectors as columns
        pub(super) v: Ret<'f, T>,
    };
    {
        /// `(...)`: 0, or not if there is no result
        pub(super) info: Ret<'f, i32>,
        /// whether all singular vectors are computed, else the first min(m, n)
        pub(super) full_matrices: Attr<bool>,
        /// whether singular vectors are computed; else nothing of use is written to them
        pub(super) compute_uv: Attr<bool>,
    }
}
