//! LU factorisation.

use super::host;
use super::operands::GetrfIo;
use crate::platform::host::{Changed, HostScalar};
use xla_ffi::{Cx, Host, Result};

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
