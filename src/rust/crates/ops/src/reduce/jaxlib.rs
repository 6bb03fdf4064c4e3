//! Tridiagonal and Hessenberg form.

use super::host;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{
    io, AnyBufferMut, Arg, Attr, Cx, Error, Host, MinRank, Operand, OperandKind, Result, Ret,
    Scalar,
};

io! {
    /// `Qᴴ A Q` tridiagonal.
    pub struct SytrdIo<'f, T> {
        /// `(..., n, n)`, Hermitian
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the tridiagonal form and the reflectors; shares `x`'s memory
        packed: Ret<'f, T>,
        /// `(..., n)`: the diagonal; real
        d: AnyBufferMut<'f>,
        /// `(..., n - 1)`: beside it; real
        e: AnyBufferMut<'f>,
        /// `(..., n - 1)`
        tau: Ret<'f, T>,
        /// `(...)`: 0
        info: Ret<'f, i32>,
        /// the triangle that is read and written: L or U
        uplo: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Reduction of Hermitian matrices to tridiagonal form.
    Sytrd: SytrdIo = "sytrd", "hetrd" by sytrd
}

fn sytrd<T: HostScalar>(mut io: SytrdIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    let beside = i64::from(shape.rows - 1).max(0);
    for (part, length) in [(&io.d, shape.rows.into()), (&io.e, beside)] {
        part.expect_dtype(T::Real::DTYPE)?;
        part.expect_batch_dims(batch, &[length])?;
    }
    io.tau.expect_batch_dims(batch, &[beside])?;
    io.info.expect_dims(batch)?;
    io.packed.copy_from(&io.x)?;
    let results = (
        io.d.as_mut_slice()?,
        io.e.as_mut_slice()?,
        io.tau.as_mut_slice()?,
    );
    let (a, info) = (io.packed.as_mut_slice()?, io.info.as_mut_slice()?);
    host::sytrd((cx, shape), triangle, a, results, info)
}

io! {
    /// `Qᴴ A Q` of Hessenberg form.
    pub struct GehrdIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the Hessenberg form and the reflectors; shares `x`'s memory
        packed: Ret<'f, T>,
        /// `(..., n - 1)`
        tau: Ret<'f, T>,
        /// `(...)`: 0
        info: Ret<'f, i32>,
        /// the first row, counted from 1, that is not of the form already
        low: Attr<i32>,
        /// the last one
        high: Attr<i32>,
    }
}

crate::jaxlib::targets! {
    /// Reduction to Hessenberg form.
    Gehrd: GehrdIo = "gehrd" by gehrd
}

fn gehrd<T: HostScalar>(mut io: GehrdIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let (n, low, high) = (shape.rows, *io.low, *io.high);
    io.tau
        .expect_batch_dims(batch, &[i64::from(n - 1).max(0)])?;
    io.info.expect_dims(batch)?;
    if low < 1 || low > n.max(1) {
        return Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, "low"),
            format_args!("be from 1 to {}", n.max(1)),
            low,
        ));
    }
    if high < low.min(n) || high > n {
        return Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, "high"),
            format_args!("be from {} to {n}", low.min(n)),
            high,
        ));
    }
    io.packed.copy_from(&io.x)?;
    let (tau, info) = (io.tau.as_mut_slice()?, io.info.as_mut_slice()?);
    host::gehrd(
        (cx, shape),
        (low, high),
        io.packed.as_mut_slice()?,
        tau,
        info,
    )
}
