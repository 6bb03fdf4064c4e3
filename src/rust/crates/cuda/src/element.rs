//! The element types of linear algebra, as CUDA's libraries know them.

use std::ffi::c_int;
use xla_ffi::{Complex, Scalar};

/// f32, f64, c64 or c128.
///
/// # Safety
/// All is said of this very type: routines and kernels are taken by it.
pub unsafe trait Element: Scalar {
    /// Its place in tables of four: S, D, C, Z.
    const KIND: usize;
    /// The precision's place in tables of two: f32, f64.
    const PRECISION: usize;
    /// CUDA's number for it (`cudaDataType`).
    const DATA_TYPE: c_int;
    /// Numbers in an element, as a power of 2: 0 or 1.
    const SHIFT: u32;
    /// Itself, or the type of its parts.
    type Real: Element;
    /// Itself, or the type whose parts it is.
    type Complex: Element;
}

macro_rules! elements {
    ($($t:ty, $real:ty, $kind:literal, $precision:literal, $data_type:literal, $shift:literal;)*) => {$(
        // SAFETY: the order S, D, C, Z, and the numbers of `cudaDataType`.
        unsafe impl Element for $t {
            const KIND: usize = $kind;
            const PRECISION: usize = $precision;
            const DATA_TYPE: c_int = $data_type;
            const SHIFT: u32 = $shift;
            type Real = $real;
            type Complex = Complex<$real>;
        }
    )*};
}

elements! {
    f32, f32, 0, 0, 0, 0;
    f64, f64, 1, 1, 1, 0;
    Complex<f32>, f32, 2, 0, 4, 1;
    Complex<f64>, f64, 3, 1, 5, 1;
}
