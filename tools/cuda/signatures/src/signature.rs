//! What a function looks like to the processor: the kinds of its result and parameters.

use cudarc::{
    cublas::sys as cublas, cusolver::sys as cusolver, driver::sys as driver, nvrtc::sys as nvrtc,
};

/// A type as it is passed.
pub trait Passed {
    /// A pointer, or an integer with its size.
    const KIND: &'static str;
}

macro_rules! passed {
    ($($kind:literal: $($t:ty),*;)*) => {$($(
        impl Passed for $t {
            const KIND: &'static str = $kind;
        }
    )*)*};
}

passed! {
    "8 bits": i8, u8;
    "32 bits": i32, u32, cublas::cublasStatus_t, cusolver::cusolverStatus_t, cusolver::cusolverEigMode_t,
        cusolver::cublasFillMode_t, cusolver::cublasSideMode_t, cusolver::cublasOperation_t,
        cusolver::cudaDataType, driver::CUresult, driver::CUdevice_attribute, driver::CUfunction_attribute, nvrtc::nvrtcResult;
    "64 bits": i64, u64, usize;
}

impl<T> Passed for *mut T {
    const KIND: &'static str = "pointer";
}

impl<T> Passed for *const T {
    const KIND: &'static str = "pointer";
}

/// A type of function pointers.
pub trait Signature {
    /// Result first.
    fn kinds() -> Vec<&'static str>;
}

macro_rules! signatures {
    () => {};
    ($first:ident $($more:ident)*) => {
        signatures!(@for unsafe extern "C" fn($first, $($more),*) -> R, $first $($more)*);
        signatures!(@for unsafe fn($first, $($more),*) -> R, $first $($more)*);
        signatures!($($more)*);
    };
    (@for $function:ty, $($parameter:ident)*) => {
        impl<R: Passed, $($parameter: Passed),*> Signature for $function {
            fn kinds() -> Vec<&'static str> {
                vec![R::KIND, $($parameter::KIND),*]
            }
        }
    };
}

signatures!(A B C D E F G H I J K L M N O P Q S T U V W X Y Z);

/// Of a field of a table, which need not exist for that.
pub fn ours<T, F: Signature>(_: impl Fn(&T) -> F) -> Vec<&'static str> {
    F::kinds()
}

/// Of a function.
pub fn theirs<F: Signature>(_: F) -> Vec<&'static str> {
    F::kinds()
}
