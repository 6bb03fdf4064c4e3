//! QR factorisation.

use super::cuda::{self};
use super::jaxlib::{GeqrfIo, OrgqrIo, OrmqrIo};
use crate::platform::MemoryAccess;
use ::cuda::{Cuda, DeviceSlice, DeviceSliceMut, Element};
use xla_ffi::{Cx, Kernel, Op, RealAndComplex, Result};

/// QR factorisation, `Q` as reflectors.
pub struct Geqrf;

impl Op for Geqrf {
    const TARGET: &'static str = "cusolver_geqrf_ffi";
    type Dtypes = RealAndComplex;
}

impl<T: Element> Kernel<Cuda, T> for Geqrf {
    type Io<'f> = GeqrfIo<'f, T>;

    fn run(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
        let shape = io.shape()?;
        Cuda::copy(cx, &io.x, &mut io.packed)?;
        let a = DeviceSliceMut::<T>::of(&mut io.packed)?;
        cuda::geqrf((cx, shape), a, DeviceSliceMut::of(&mut io.tau)?)
    }
}

/// The first columns of the `Q` that reflectors make.
pub struct Orgqr;

impl Op for Orgqr {
    const TARGET: &'static str = "cusolver_orgqr_ffi";
    type Dtypes = RealAndComplex;
}

impl<T: Element> Kernel<Cuda, T> for Orgqr {
    type Io<'f> = OrgqrIo<'f, T>;

    fn run(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
        let (shape, reflectors) = io.shape()?;
        Cuda::copy(cx, &io.x, &mut io.q)?;
        let a = DeviceSliceMut::<T>::of(&mut io.q)?;
        cuda::orgqr((cx, shape), reflectors, a, DeviceSlice::of(&io.tau)?)
    }
}

/// Products with the `Q` that reflectors make.
pub struct Ormqr;

impl Op for Ormqr {
    const TARGET: &'static str = "cusolver_ormqr_ffi";
    type Dtypes = RealAndComplex;
}

impl<T: Element> Kernel<Cuda, T> for Ormqr {
    type Io<'f> = OrmqrIo<'f, T>;

    fn run(mut io: OrmqrIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
        let (shape, reflectors) = io.shape()?;
        Cuda::copy(cx, &io.c, &mut io.product)?;
        // Not more than rows or columns, which are i32.
        let reflectors = reflectors as i32;
        let reflectors = (
            DeviceSlice::of(&io.a)?,
            DeviceSlice::of(&io.tau)?,
            reflectors,
        );
        let form = (*io.left, *io.transpose);
        let c = DeviceSliceMut::<T>::of(&mut io.product)?;
        cuda::ormqr((cx, shape), form, reflectors, c)
    }
}
