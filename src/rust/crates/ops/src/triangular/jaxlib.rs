//! Triangular systems.

use super::host;
use crate::letter;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use xla_ffi::{io, Arg, Attr, Cx, Error, Host, MinRank, Result, Ret};

io! {
    /// `op(X) S = Y` or `S op(X) = Y`.
    pub struct TrsmIo<'f, T> {
        /// `(..., m, m)` (left) or `(..., n, n)` (right), triangular
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`
        y: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `S`; shares `y`'s memory
        solution: Ret<'f, T>,
        /// the side of `X`: L or R
        side: Attr<u8>,
        /// the triangle of `X` that is read: L or U
        uplo: Attr<u8>,
        /// `op`: N, T (transposed) or C (conjugated, too)
        trans_x: Attr<u8>,
        /// U: ones on the diagonal of `X`, which is not read; N: what is there
        diag: Attr<u8>,
    }
}

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
