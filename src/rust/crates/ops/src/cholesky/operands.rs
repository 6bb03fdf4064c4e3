//! The operands of jaxlib's targets.

use crate::jaxlib::variants;
use xla_ffi::{Arg, Attr, MinRank, Ret};

variants! {
    /// `A = L Lᴴ` or `A = Uᴴ U`.
    {
        /// `(..., n, n)`, Hermitian and positive definite
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the factor in its triangle, on a CPU the other one as in `x`; shares `x`'s memory
        pub(super) factor: Ret<'f, T>,
        /// `(...)`: 0, or the order of the first minor that is not positive definite
        pub(super) info: Ret<'f, i32>,
    }
    PotrfIo {
        /// the triangle that is read and written: L or U
        pub(super) uplo: Attr<u8>,
    }
    CudaPotrfIo {
        /// whether the lower triangle is read and written, else the upper one
        pub(super) lower: Attr<bool>,
    }
}
