//! NVIDIA's GPUs: cuSOLVER, cuBLAS and kernels of our own, on the stream that XLA gives. Nothing is
//! linked; [`loader`] finds the libraries when the first op runs.
//!
//! All work is put on the stream and nothing waits for it, but for [`device::read`]. So the host
//! never sees `devInfo`: what could not be computed is turned into NaN on the stream ([`guard`]).
//!
//! Device memory is a [`DeviceSlice`] or a [`DeviceSliceMut`]. Each function here compares their
//! lengths with the shape that it is given before the device gets an address, so none needs `unsafe`
//! of its caller.

mod batched;
mod blocks;
mod changed;
pub mod columns;
pub mod device;
mod driver;
pub mod eigh;
mod element;
pub mod guard;
mod handles;
mod kernels;
pub mod libraries;
pub mod loader;
mod memory;
mod modules;
pub mod nvrtc;
mod pool;
pub mod raw;
pub mod routines;
pub mod scratch;
mod single;
pub mod sizes;
pub mod small;
pub mod status;
pub mod sys;
pub mod unit;

pub use changed::Changed;
pub use element::Element;
pub use memory::{DeviceSlice, DeviceSliceMut};

use matrices::{Matrices, Triangle};
use std::ffi::{c_int, c_void};
use std::ptr;
use sys::{Driver, Stream};
use xla_ffi::{Context, Cx, Error, Platform, Result};

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
