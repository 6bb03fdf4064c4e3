//! Types of Rust for element types.

/// The Rust type `$T` for each element type but the complex ones, in `$body`.
macro_rules! for_real {
    ($dtype:expr, $T:ident => $body:expr, complex => $complex:expr) => {
        for_real!(
            $dtype, $T => $body, $complex,
            Pred $crate::convert::scalar::Pred,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 half::f16, BF16 half::bf16, F32 f32, F64 f64
        )
    };
    ($dtype:expr, $T:ident => $body:expr, $complex:expr, $($kind:ident $type:ty),*) => {
        match $dtype {
            $($crate::dtype::DType::$kind => {
                type $T = $type;
                $body
            })*
            $crate::dtype::DType::C64 | $crate::dtype::DType::C128 => $complex,
        }
    };
}

/// A type of the element's size, for what does not look at the number.
macro_rules! for_size {
    ($size:expr, $T:ident => $body:expr) => {
        for_size!($size, $T => $body, 1, u8; 2, u16; 4, u32; 8, u64; _, [u64; 2])
    };
    ($size:expr, $T:ident => $body:expr, $($bytes:pat_param, $type:ty);*) => {
        match $size {
            $($bytes => {
                type $T = $type;
                $body
            })*
        }
    };
}

pub(super) use {for_real, for_size};
