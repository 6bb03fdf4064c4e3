//! QR factorisation with column pivoting.

use super::host_pivoted;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, Arg, Cx, Host, MinRank, Result, Ret};

io! {
    /// `A P = Q R`.
    pub struct Geqp3Io<'f, T> {
        /// `(..., m, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n)`: not 0 for the columns that come first
        jpvt: Arg<'f, i32, MinRank<1>>,
        /// `(..., m, n)`: `R`, and the reflectors of `Q` below it; shares `x`'s memory
        packed: Ret<'f, T>,
        /// `(..., n)`: the columns of `A` in the order of `A P`, counted from 1; shares `jpvt`'s
        /// memory
        columns: Ret<'f, i32>,
        /// `(..., min(m, n))`
        tau: Ret<'f, T>,
    }
}

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
