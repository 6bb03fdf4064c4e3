//! NVIDIA's C APIs as tables of functions, filled when they are first used: nothing is linked.
//!
//! The prototypes are compared with bindings made from NVIDIA's headers by `tools/cuda/signatures`.

mod cublas;
mod cusolver;
mod driver;
mod nvrtc;

pub use cublas::Cublas;
pub use cusolver::Cusolver;
pub use driver::Driver;
pub use nvrtc::Nvrtc;

use std::ffi::{c_int, c_void};

/// What the functions answer: 0, or what went wrong.
pub type Status = c_int;
/// A handle of cuSOLVER or cuBLAS, or one of their parameter sets.
pub type Handle = *mut c_void;
/// A `CUstream`.
pub type Stream = *mut c_void;
/// Data in the device's memory, as cuSOLVER and cuBLAS take them.
pub type Data = *mut c_void;
/// Integers in the device's memory.
pub type Ints = *mut c_int;

/// Declares a library's table. `one`: a function. `four`: a routine in each element type (f32, f64,
/// c64, c128), by its name for real and for complex matrices. `late`: a function that older
/// versions lack, with the version of CUDA that brought it.
macro_rules! library {
    (
        $(#[$meta:meta])*
        $name:ident($prefix:literal) {
            $(one $one:ident: $one_symbol:literal($($one_arg:ident: $one_ty:ty),* $(,)?);)*
            $(four $four:ident: $real:literal, $complex:literal($($four_arg:ident: $four_ty:ty),* $(,)?);)*
            $(late $late:ident: $late_symbol:literal($($late_arg:ident: $late_ty:ty),* $(,)?);)*
        }
    ) => {
        $(#[$meta])*
        #[allow(missing_docs)] // The functions are documented by NVIDIA, under their symbols.
        pub struct $name {
            $(pub $one: unsafe extern "C" fn($($one_arg: $one_ty),*) -> $crate::sys::Status,)*
            $(pub $four: [unsafe extern "C" fn($($four_arg: $four_ty),*) -> $crate::sys::Status; 4],)*
            $(pub $late: Option<unsafe extern "C" fn($($late_arg: $late_ty),*) -> $crate::sys::Status>,)*
            _library: $crate::loader::Library,
        }

        impl $name {
            /// The symbols that every version must have.
            pub const SYMBOLS: &'static [&'static str] = &[
                $(concat!($prefix, $one_symbol),)*
                $(
                    concat!($prefix, "S", $real), concat!($prefix, "D", $real),
                    concat!($prefix, "C", $complex), concat!($prefix, "Z", $complex),
                )*
            ];

            /// The symbols that older versions lack.
            pub const LATE: &'static [&'static str] = &[$(concat!($prefix, $late_symbol)),*];
        }

        impl $crate::loader::Table for $name {
            fn fill(library: $crate::loader::Library) -> xla_ffi::Result<Self> {
                // SAFETY: each symbol has the prototype that is declared for it.
                unsafe {
                    Ok($name {
                        $($one: library.symbol(concat!($prefix, $one_symbol))?,)*
                        $($four: [
                            library.symbol(concat!($prefix, "S", $real))?,
                            library.symbol(concat!($prefix, "D", $real))?,
                            library.symbol(concat!($prefix, "C", $complex))?,
                            library.symbol(concat!($prefix, "Z", $complex))?,
                        ],)*
                        $($late: library.symbol(concat!($prefix, $late_symbol)).ok(),)*
                        _library: library,
                    })
                }
            }
        }
    };
}
use library;
