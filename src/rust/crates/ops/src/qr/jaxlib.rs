//! QR factorisation.

use super::host;
use super::operands::{GeqrfIo, OrgqrIo, OrmqrIo};
use crate::platform::host::{Changed, HostScalar};
use xla_ffi::{Cx, Host, Result};

crate::jaxlib::targets! {
    /// QR factorisation, `Q` as reflectors.
    Geqrf: GeqrfIo = "geqrf" by geqrf
}

fn geqrf<T: HostScalar>(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let shape = io.shape()?;
    let packed = Changed::new(&io.x, &mut io.packed)?;
    host::geqrf((cx, shape), packed, io.tau.as_mut_slice()?)
}

crate::jaxlib::targets! {
    /// The first columns of the `Q` that reflectors make.
    Orgqr: OrgqrIo = "orgqr", "ungqr" by orgqr
}

fn orgqr<T: HostScalar>(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, k) = io.shape()?;
    let q = Changed::new(&io.x, &mut io.q)?;
    host::orgqr((cx, shape), k, q, io.tau.as_slice()?)
}

crate::jaxlib::targets! {
    /// Products with the `Q` that reflectors make.
    Ormqr: OrmqrIo = "ormqr", "unmqr" by ormqr
}

fn ormqr<T: HostScalar>(mut io: OrmqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, k) = io.shape()?;
    io.product.copy_from(&io.c)?;
    let reflectors = (io.a.as_slice()?, io.tau.as_slice()?, k);
    let form = (*io.left, *io.transpose);
    host::ormqr((cx, shape), form, reflectors, io.product.as_mut_slice()?)
}
