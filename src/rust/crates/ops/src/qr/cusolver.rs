//! QR factorisation.

use super::cuda;
use super::operands::{GeqrfIo, OrgqrIo, OrmqrIo};
use crate::cusolver::copied;
use ::cuda::{Changed, Cuda, DeviceSlice, DeviceSliceMut, Element};
use xla_ffi::{Cx, Result};

crate::cusolver::target! {
    /// QR factorisation, `Q` as reflectors.
    Geqrf: GeqrfIo = "cusolver_geqrf_ffi" by geqrf
}

fn geqrf<T: Element>(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let shape = io.shape()?;
    let a = Changed::<T>::new(&io.x, &mut io.packed)?;
    cuda::geqrf((cx, shape), a, DeviceSliceMut::of(&mut io.tau)?)
}

crate::cusolver::target! {
    /// The first columns of the `Q` that reflectors make.
    Orgqr: OrgqrIo = "cusolver_orgqr_ffi" by orgqr
}

fn orgqr<T: Element>(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, reflectors) = io.shape()?;
    let a = Changed::<T>::new(&io.x, &mut io.q)?;
    cuda::orgqr((cx, shape), reflectors, a, DeviceSlice::of(&io.tau)?)
}

crate::cusolver::target! {
    /// Products with the `Q` that reflectors make.
    Ormqr: OrmqrIo = "cusolver_ormqr_ffi" by ormqr
}

fn ormqr<T: Element>(mut io: OrmqrIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (shape, reflectors) = io.shape()?;
    // Not more than rows or columns, which are i32.
    let reflectors = reflectors as i32;
    let reflectors = (
        DeviceSlice::of(&io.a)?,
        DeviceSlice::of(&io.tau)?,
        reflectors,
    );
    let form = (*io.left, *io.transpose);
    let c = copied::<T>(cx, &io.c, &mut io.product)?;
    cuda::ormqr((cx, shape), form, reflectors, c)
}
