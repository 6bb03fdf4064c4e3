//! Cholesky factorisation.

use super::host;
use super::operands::PotrfIo;
use crate::letter;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use xla_ffi::{Cx, Host, Result};

crate::jaxlib::targets! {
    /// Cholesky factorisation.
    Potrf: PotrfIo = "potrf" by potrf
}

fn potrf<T: HostScalar>(mut io: PotrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    io.info.expect_dims(batch)?;
    let factor: Changed<T> = Changed::new(&io.x, &mut io.factor)?;
    let info = io.info.as_mut_slice()?;
    host::potrf((cx, shape), triangle, factor, info, |_, _| ())
}
