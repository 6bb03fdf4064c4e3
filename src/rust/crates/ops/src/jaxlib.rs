//! jaxlib's targets on the CPU, `lapack_{s,d,c,z}…_ffi`, so that programs exported by JAX run as
//! they are: operands, results, aliases and attributes (letters as their ASCII codes) as in jaxlib.
//! One file per decomposition, `jaxlib.rs` in its room, generic over the dtype; the target's name
//! says the dtype.
//!
//! Where a result is not asked for (singular vectors, with the mode for none), it is zero. A matrix with NaN or an infinity gives NaN, and a positive `info` where jaxlib's callers
//! take that for "no result".

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
/// matrices; or, after `real` or `complex`, for these only.
macro_rules! targets {
    ($(#[$meta:meta])* $op:ident = $real:literal) => {
        $crate::jaxlib::targets!($(#[$meta])* $op = $real, $real);
    };
    ($(#[$meta:meta])* $op:ident = $real:literal, $complex:literal) => {
        $crate::jaxlib::targets!($(#[$meta])* real $op = $real);
        $crate::jaxlib::targets!(@ $op: C = xla_ffi::Complex<f32>, "c", $complex);
        $crate::jaxlib::targets!(@ $op: Z = xla_ffi::Complex<f64>, "z", $complex);
    };
    ($(#[$meta:meta])* real $op:ident = $routine:literal) => {
        $(#[$meta])*
        pub struct $op<T>(core::marker::PhantomData<T>);

        $crate::jaxlib::targets!(@ $op: S = f32, "s", $routine);
        $crate::jaxlib::targets!(@ $op: D = f64, "d", $routine);
    };
    ($(#[$meta:meta])* complex $op:ident = $routine:literal) => {
        $(#[$meta])*
        pub struct $op<T>(core::marker::PhantomData<T>);

        $crate::jaxlib::targets!(@ $op: C = xla_ffi::Complex<f32>, "c", $routine);
        $crate::jaxlib::targets!(@ $op: Z = xla_ffi::Complex<f64>, "z", $routine);
    };
    (@ $op:ident: $set:ident = $t:ty, $letter:literal, $routine:literal) => {
        impl xla_ffi::Op for $op<$t> {
            const TARGET: &'static str = concat!("lapack_", $letter, $routine, "_ffi");
            type Dtypes = $crate::jaxlib::$set;
        }
    };
}
pub(crate) use targets;
