//! jaxlib's targets on the CPU, `lapack_{s,d,c,z}…_ffi`, so that programs exported by JAX run as
//! they are: operands, results, aliases and attributes (letters as their ASCII codes) as in jaxlib.
//! One file per family of routines, generic over the dtype; the target's name says the dtype.
//!
//! Where a result is not asked for (singular vectors, with the mode for none), nothing is written
//! to it. A matrix with NaN or an infinity gives NaN, and a positive `info` where jaxlib's callers
//! take that for "no result".

mod cholesky;
mod eigh;
mod lu;
mod pivoted;
mod qr;
mod reduce;
mod svd;
mod triangular;
mod tridiagonal;

pub use cholesky::Potrf;
pub use eigh::Syevd;
pub use lu::Getrf;
pub use pivoted::Geqp3;
pub use qr::{Geqrf, Orgqr, Ormqr};
pub use reduce::{Gehrd, Sytrd};
pub use svd::Gesdd;
pub use triangular::Trsm;
pub use tridiagonal::Gtsv;

use xla_ffi::{dtype_set, Complex};

dtype_set! {
    /// f32.
    pub S = f32;
    /// f64.
    pub D = f64;
    /// c64.
    pub C = Complex<f32>;
    /// c128.
    pub Z = Complex<f64>;
}

/// Declares an op per dtype, by the routine's name for real and, if it differs, for complex
/// matrices.
macro_rules! targets {
    ($(#[$meta:meta])* $op:ident = $real:literal) => {
        $crate::jaxlib::targets!($(#[$meta])* $op = $real, $real);
    };
    ($(#[$meta:meta])* $op:ident = $real:literal, $complex:literal) => {
        $(#[$meta])*
        pub struct $op<T>(core::marker::PhantomData<T>);

        impl xla_ffi::Op for $op<f32> {
            const TARGET: &'static str = concat!("lapack_s", $real, "_ffi");
            type Dtypes = $crate::jaxlib::S;
        }

        impl xla_ffi::Op for $op<f64> {
            const TARGET: &'static str = concat!("lapack_d", $real, "_ffi");
            type Dtypes = $crate::jaxlib::D;
        }

        impl xla_ffi::Op for $op<xla_ffi::Complex<f32>> {
            const TARGET: &'static str = concat!("lapack_c", $complex, "_ffi");
            type Dtypes = $crate::jaxlib::C;
        }

        impl xla_ffi::Op for $op<xla_ffi::Complex<f64>> {
            const TARGET: &'static str = concat!("lapack_z", $complex, "_ffi");
            type Dtypes = $crate::jaxlib::Z;
        }
    };
}
use targets;
