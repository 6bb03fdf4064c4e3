//! jaxlib's targets on CUDA, `cusolver_…_ffi` and `cu_lu_pivots_to_permutation`, so that GPU
//! programs exported by JAX run as they are: operands, results, aliases and attributes as in jaxlib,
//! one target for all dtypes. What has the same operands on the CPU shares their declaration with
//! [`jaxlib`](crate::jaxlib).
//!
//! A matrix with NaN or an infinity gives NaN, and a positive `info` where jaxlib's callers take
//! that for "no result".

use crate::platform::MemoryAccess;
use cuda::{Cuda, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

/// A result that a routine overwrites, with the argument's elements in it.
pub(crate) fn copied<'a, T: Element>(
    cx: &Cx<'_, Cuda>,
    from: &AnyBuffer<'_>,
    to: &'a mut AnyBufferMut<'_>,
) -> Result<DeviceSliceMut<'a, T>> {
    Cuda::copy(cx, from, to)?;
    DeviceSliceMut::of(to)
}

/// The triangle that jaxlib's attribute `lower` names.
pub(crate) fn triangle(lower: bool) -> Triangle {
    if lower {
        Triangle::Lower
    } else {
        Triangle::Upper
    }
}

/// `Op: Operands = "target" by function`: declares an op by its operands, its target and the
/// function that is its body.
macro_rules! target {
    ($(#[$meta:meta])* $op:ident: $io:ident = $target:literal by $run:expr) => {
        $(#[$meta])*
        pub struct $op;

        impl xla_ffi::Op for $op {
            const TARGET: &'static str = $target;
            type Dtypes = xla_ffi::RealAndComplex;
        }

        impl<T: ::cuda::Element> xla_ffi::Kernel<::cuda::Cuda, T> for $op {
            type Io<'f> = $io<'f, T>;

            fn run(io: $io<'_, T>, cx: &xla_ffi::Cx<'_, ::cuda::Cuda>) -> xla_ffi::Result<()> {
                ($run)(io, cx)
            }
        }
    };
}
pub(crate) use target;
