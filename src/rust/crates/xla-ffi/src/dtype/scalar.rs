//! The Rust types that hold one element.

use core::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use super::data_type::DataType;

/// A truth value as XLA stores it: one byte, zero is false, anything else true.
///
/// Not `bool`, because a byte that another program wrote may be neither 0 nor 1.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Pred(
    /// The byte.
    pub u8,
);

impl Pred {
    /// The truth value.
    #[must_use]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Pred {
    fn from(value: bool) -> Self {
        Pred(u8::from(value))
    }
}

impl From<Pred> for bool {
    fn from(value: Pred) -> Self {
        value.get()
    }
}

impl PartialEq for Pred {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Pred {}

impl fmt::Debug for Pred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// A Rust type that holds one element of a [`DataType`].
///
/// # Safety
/// The type has the size that [`DTYPE`](Scalar::DTYPE) has in XLA's memory, every bit pattern of
/// that size is a value of it, and it has no padding.
pub unsafe trait Scalar: Copy + Send + Sync + fmt::Debug + 'static {
    /// The element type.
    const DTYPE: DataType;
}

macro_rules! scalars {
    ($($ty:ty => $id:ident;)*) => {$(
        // SAFETY: a number type (or a transparent or repr(C) struct of them) of just that size,
        // without padding or forbidden bit patterns.
        unsafe impl Scalar for $ty {
            const DTYPE: DataType = DataType::$id;
        }

        const _: () = {
            let Some(size) = DataType::$id.size() else { panic!("a scalar has a size") };
            assert!(core::mem::size_of::<$ty>() == size);
        };
    )*};
}

scalars! {
    Pred => PRED;
    i8 => S8;
    i16 => S16;
    i32 => S32;
    i64 => S64;
    u8 => U8;
    u16 => U16;
    u32 => U32;
    u64 => U64;
    f16 => F16;
    bf16 => BF16;
    f32 => F32;
    f64 => F64;
    Complex<f32> => C64;
    Complex<f64> => C128;
}

/// Stands for the element type that an op is generic over, when an op is described rather than run.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Generic {}

// SAFETY: no buffer has the dtype of `Generic`, and it has no values, so none is ever read as one.
unsafe impl Scalar for Generic {
    const DTYPE: DataType = DataType(i32::MIN);
}
