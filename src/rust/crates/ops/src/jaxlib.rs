//! jaxlib's targets on the CPU, `lapack_{s,d,c,z}…_ffi`, so that programs exported by JAX run as
//! they are: operands, results, aliases and attributes (letters as their ASCII codes) as in jaxlib.
//! One file per decomposition, `jaxlib.rs` in its module, generic over the dtype; the target's name
//! says the dtype. The operands are declared in `operands.rs` beside it.
//!
//! Where a result is not asked for (singular vectors, with the mode for none), it is zero. A matrix with NaN or an
//! infinity gives NaN, and a positive `info` where jaxlib's callers take that for "no result".

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

/// `Op: Operands = "routine" by function`: declares an op per dtype by its operands, the routine's
/// name for real and, if it differs, for complex matrices, and the function that is its body; after
/// `real` or `complex`, for these dtypes only.
macro_rules! targets {
    ($(#[$meta:meta])* $op:ident: $io:ident = $real:literal by $run:expr) => {
        $crate::jaxlib::targets!($(#[$meta])* $op: $io = $real, $real by $run);
    };
    ($(#[$meta:meta])* $op:ident: $io:ident = $real:literal, $complex:literal by $run:expr) => {
        $crate::jaxlib::targets!($(#[$meta])* real $op: $io = $real by $run);
        $crate::jaxlib::targets!(@complex $op = $complex);
    };
    ($(#[$meta:meta])* real $op:ident: $io:ident = $routine:literal by $run:expr) => {
        $crate::jaxlib::targets!(@op [$(#[$meta])*] $op: $io by $run);
        $crate::jaxlib::targets!(@ $op: S = f32, "s", $routine);
        $crate::jaxlib::targets!(@ $op: D = f64, "d", $routine);
    };
    ($(#[$meta:meta])* complex $op:ident: $io:ident = $routine:literal by $run:expr) => {
        $crate::jaxlib::targets!(@op [$(#[$meta])*] $op: $io by $run);
        $crate::jaxlib::targets!(@complex $op = $routine);
    };
    (@op [$(#[$meta:meta])*] $op:ident: $io:ident by $run:expr) => {
        $(#[$meta])*
        pub struct $op<T>(core::marker::PhantomData<T>);

        impl<T: $crate::platform::host::HostScalar> xla_ffi::Kernel<xla_ffi::Host, T> for $op<T>
        where
            $op<T>: xla_ffi::Op,
        {
            type Io<'f> = $io<'f, T>;

            fn run(io: $io<'_, T>, cx: &xla_ffi::Cx<'_, xla_ffi::Host>) -> xla_ffi::Result<()> {
                ($run)(io, cx)
            }
        }
    };
    (@complex $op:ident = $routine:literal) => {
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

/// Operands of targets that differ in some of them: those before, the targets' own, and those behind.
macro_rules! variants {
    (#[doc = $doc:literal] $before:tt $($name:ident $own:tt)+) => {
        $crate::jaxlib::variants!(#[doc = $doc] $before $($name $own)+; {});
    };
    (#[doc = $doc:literal] $before:tt $($name:ident $own:tt)+; $behind:tt) => {
        $($crate::jaxlib::variants!(@ $doc $name $before $own $behind);)+
    };
    (@ $doc:literal $name:ident {$($before:tt)*} {$($own:tt)*} {$($behind:tt)*}) => {
        xla_ffi::io! {
            #[doc = $doc]
            pub struct $name<'f, T> {
                $($before)*
                $($own)*
                $($behind)*
            }
        }
    };
}
pub(crate) use variants;
