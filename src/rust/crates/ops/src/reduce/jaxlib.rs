//! Tridiagonal and Hessenberg form.

use super::host;
use super::operands::{self, GehrdIo, SytrdIo};
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{Cx, Error, Host, Operand, OperandKind, Result};

crate::jaxlib::targets! {
    /// Reduction of Hermitian matrices to tridiagonal form.
    Sytrd: SytrdIo = "sytrd", "hetrd" by sytrd
}

fn sytrd<T: HostScalar>(mut io: SytrdIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let shape = operands::shape::<T, T::Real>(&io.x, [&io.d, &io.e], &io.tau, &io.info)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    io.packed.copy_from(&io.x)?;
    let results = (
        io.d.as_mut_slice()?,
        io.e.as_mut_slice()?,
        io.tau.as_mut_slice()?,
    );
    io.info.as_mut_slice()?.fill(0);
    host::sytrd((cx, shape), triangle, io.packed.as_mut_slice()?, results)
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
    io.info.as_mut_slice()?.fill(0);
    let (a, tau) = (io.packed.as_mut_slice()?, io.tau.as_mut_slice()?);
    host::gehrd((cx, shape), (low, high), a, tau)
}
