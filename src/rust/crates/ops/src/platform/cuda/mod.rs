//! NVIDIA's GPUs: cuSOLVER, cuBLAS and kernels of our own, on the stream that XLA gives. Nothing is
//! linked; [`loader`] finds the libraries when the first op runs.
//!
//! All work is put on the stream and nothing waits for it, but for
//! [`to_host`](crate::platform::Memory::to_host). So the host never sees `devInfo`: what could not
//! be computed is turned into NaN on the stream (`guard`).

mod batched;
mod cholesky;
mod device;
mod eig;
mod eigh;
mod element;
mod guard;
mod handles;
mod kepler;
mod kernels;
pub mod libraries;
pub mod loader;
mod lu;
mod nvrtc;
mod pool;
mod qr;
mod reduce;
mod scratch;
mod sizes;
mod solver;
mod status;
mod svd;
pub mod sys;

pub(crate) use cholesky::potrf;
pub(crate) use eig::geev;
pub use eig::General;
pub(crate) use eigh::{syevd, Method};
pub use element::Element;
pub(crate) use lu::{getrf, permutation};
pub(crate) use qr::{geqrf, orgqr};
pub(crate) use reduce::{ormqr, sytrd};
pub(crate) use svd::{gesvd, gesvdj, gesvdp, Parts};

use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::ptr;
use sys::{Driver, Stream};
use xla_ffi::{AnyBuffer, AnyBufferMut, Context, Cx, Error, Platform, Result};

use super::{Matrices, Memory, Triangle};

/// What a routine for a batch needs to know of the call and of its matrices.
pub type Batch<'a, 'f> = (&'a Cx<'f, Cuda>, Matrices);

/// `cusolverEigMode_t`: with or without vectors.
fn job(vectors: bool) -> c_int {
    c_int::from(vectors)
}

/// `cublasFillMode_t`.
fn fill_mode(triangle: Triangle) -> c_int {
    match triangle {
        Triangle::Lower => 0,
        Triangle::Upper => 1,
    }
}

/// A GPU: the stream of the call and the driver.
#[derive(Clone, Copy)]
pub struct Cuda {
    driver: &'static Driver,
    stream: Stream,
    /// The current context, as a number to tell contexts apart by.
    context: usize,
}

// SAFETY: `HOST_MEMORY` is false.
unsafe impl Platform for Cuda {
    const NAME: &'static str = "cuda";
    const HOST_MEMORY: bool = false;

    fn new(context: &Context<'_>) -> Result<Self> {
        let driver = libraries::driver()?;
        let stream = context.stream()?;
        let mut current: *mut c_void = ptr::null_mut();
        // SAFETY: `current` is where the answer goes.
        status::driver("CtxGetCurrent", unsafe {
            (driver.ctx_get_current)(&mut current)
        })?;
        if current.is_null() {
            return Err(Error::internal("XLA's thread has no current CUDA context"));
        }
        Ok(Cuda {
            driver,
            stream,
            context: current as usize,
        })
    }
}

impl Memory for Cuda {
    fn copy(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.expect_dtype(from.dtype())?;
        to.expect_dims(from.dims())?;
        let (bytes, data) = (from.byte_len()?, to.as_mut_ptr());
        device::copy(cx.platform(), data, from.as_ptr(), bytes)
    }

    fn to_host<'f>(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        device::read(cx.platform(), from.as_ptr(), from.byte_len()?).map(Cow::Owned)
    }
}
