//! QR factorisation with column pivoting.

use super::host_pivoted;
use super::operands::Geqp3Io;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{Cx, Host, Result};

crate::jaxlib::targets! {
    /// QR factorisation with column pivoting.
    Geqp3: Geqp3Io = "geqp3" by geqp3
}

fn geqp3<T: HostScalar>(mut io: Geqp3Io<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::matrices(&io.x)?;
    io.jpvt.expect_batch_dims(batch, &[shape.cols.into()])?;
    io.tau.expect_batch_dims(batch, &[shape.rank().into()])?;
    io.packed.copy_from(&io.x)?;
    io.columns.copy_from(&io.jpvt)?;
    let (columns, tau) = (io.columns.as_mut_slice()?, io.tau.as_mut_slice()?);
    host_pivoted::geqp3((cx, shape), io.packed.as_mut_slice()?, columns, tau)
}
