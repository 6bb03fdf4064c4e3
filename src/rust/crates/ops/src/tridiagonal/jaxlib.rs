//! Tridiagonal systems.

use super::host;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, Arg, Cx, Host, MinRank, Result, Ret};

io! {
    /// `A S = B`.
    pub struct GtsvIo<'f, T> {
        /// `(..., n)`: below the diagonal, from the second place on
        dl: Arg<'f, T>,
        /// `(..., n)`: the diagonal
        d: Arg<'f, T>,
        /// `(..., n)`: above it, up to the last place but one
        du: Arg<'f, T>,
        /// `(..., n, k)`
        b: Arg<'f, T, MinRank<2>>,
        /// overwritten; shares `dl`'s memory
        dl_out: Ret<'f, T>,
        /// overwritten; shares `d`'s memory
        d_out: Ret<'f, T>,
        /// overwritten; shares `du`'s memory
        du_out: Ret<'f, T>,
        /// `(..., n, k)`: `S`; shares `b`'s memory
        solution: Ret<'f, T>,
        /// `(...)`: 0, or the first row where the elimination meets a zero
        info: Ret<'f, i32>,
    }
}

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
