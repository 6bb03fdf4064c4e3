//! Tridiagonal systems.

use super::host;
use super::operands::GtsvIo;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{Cx, Host, Result};

crate::jaxlib::targets! {
    /// Solves tridiagonal systems.
    Gtsv: GtsvIo = "gtsv" by gtsv
}

fn gtsv<T: HostScalar>(mut io: GtsvIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::matrices(&io.b)?;
    for diagonal in [&io.dl, &io.d, &io.du] {
        diagonal.expect_batch_dims(batch, &[shape.rows.into()])?;
    }
    io.info.expect_dims(batch)?;
    io.dl_out.copy_from(&io.dl)?;
    io.d_out.copy_from(&io.d)?;
    io.du_out.copy_from(&io.du)?;
    io.solution.copy_from(&io.b)?;
    let diagonals = (
        io.dl_out.as_mut_slice()?,
        io.d_out.as_mut_slice()?,
        io.du_out.as_mut_slice()?,
    );
    let (b, info) = (io.solution.as_mut_slice()?, io.info.as_mut_slice()?);
    host::gtsv((cx, shape), diagonals, b, info)
}
