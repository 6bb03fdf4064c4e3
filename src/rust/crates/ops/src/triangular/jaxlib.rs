//! Triangular systems.

use super::host;
use super::operands::TrsmIo;
use crate::letter;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use xla_ffi::{Cx, Error, Host, Result};

crate::jaxlib::targets! {
    /// Solves triangular systems. A zero on the diagonal gives infinities or NaN, and NaN or an
    /// infinity goes where BLAS takes it.
    Trsm: TrsmIo = "trsm" by trsm
}

fn trsm<T: HostScalar>(mut io: TrsmIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::matrices(&io.y)?;
    let (triangles, _) = shape::square(&io.x)?;
    let form = matrices::Form {
        left: letter::left("side", *io.side)?,
        triangle: letter::triangle("uplo", *io.uplo)?,
        transpose: letter::transpose("trans_x", *io.trans_x)?,
        unit: letter::unit("diag", *io.diag)?,
    };
    let order = if form.left { shape.rows } else { shape.cols };
    if triangles.rows != order {
        let got = format!("{} x {}", triangles.rows, triangles.cols);
        let expected = format!("be {order} x {order} to fit `y`");
        return Err(Error::mismatch(io.x.operand(), expected, got));
    }
    io.x.expect_batch_dims(batch, &[order.into(), order.into()])?;
    let solution = Changed::new(&io.y, &mut io.solution)?;
    host::trsm((cx, shape), form, io.x.as_slice()?, solution)
}
