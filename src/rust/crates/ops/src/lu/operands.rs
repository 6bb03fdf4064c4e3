//! The operands of jaxlib's targets.

use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, Arg, MinRank, Result, Ret, Scalar};

io! {
    /// `P A = L U`.
    pub struct GetrfIo<'f, T> {
        /// `(..., m, n)`
        pub(crate) x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: both factors; shares `x`'s memory
        pub(crate) lu: Ret<'f, T>,
        /// `(..., min(m, n))`: exchanged rows, counted from 1
        pub(crate) ipiv: Ret<'f, i32>,
        /// `(...)`: 0, or the first column where `U` has a zero on its diagonal
        pub(crate) info: Ret<'f, i32>,
    }
}

impl<T: Scalar> GetrfIo<'_, T> {
    /// The matrices, once the results are found to have their shapes.
    pub(crate) fn shape(&self) -> Result<Matrices> {
        let (shape, batch) = shape::matrices(&self.x)?;
        self.ipiv.expect_batch_dims(batch, &[shape.rank().into()])?;
        self.info.expect_dims(batch)?;
        Ok(shape)
    }
}

io! {
    /// Row numbers from pivots.
    pub struct PivotsIo<'f, T> {
        /// `(..., k)`: row `i` was exchanged with row `pivots[i]`, counted from 0
        pub(super) pivots: Arg<'f, T, MinRank<1>>,
        /// `(..., m)`, `m >= k`: the rows in their new order
        pub(super) permutation: Ret<'f, T, MinRank<1>>,
    }
}
