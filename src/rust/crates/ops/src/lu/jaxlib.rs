//! LU factorisation.

use super::host;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, Arg, Cx, Host, MinRank, Result, Ret, Scalar};

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

crate::jaxlib::targets! {
    /// LU factorisation with partial pivoting.
    Getrf: GetrfIo = "getrf" by getrf
}

fn getrf<T: HostScalar>(mut io: GetrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let shape = io.shape()?;
    let lu: Changed<T> = Changed::new(&io.x, &mut io.lu)?;
    let (pivots, info) = (io.ipiv.as_mut_slice()?, io.info.as_mut_slice()?);
    host::getrf((cx, shape), lu, pivots, info)
}
