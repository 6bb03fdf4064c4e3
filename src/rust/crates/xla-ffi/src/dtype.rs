//! Element types: XLA's numbering, names and sizes, and the Rust types that hold them.

use core::fmt;

use half::{bf16, f16};
use num_complex::Complex;

/// The element type of a buffer or attribute, in XLA's numbering.
///
/// A number that this crate does not know (a newer XLA's) is a value like any other: it has no
/// name and no size, and no typed buffer accepts it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DataType(
    /// XLA's number.
    pub i32,
);

macro_rules! data_types {
    ($($(#[$meta:meta])* $id:ident = $value:literal, $name:literal, $size:literal;)*) => {
        impl DataType {
            $($(#[$meta])* pub const $id: DataType = DataType($value);)*

            /// Every element type that this crate knows, in XLA's order.
            pub const ALL: &'static [DataType] = &[$(DataType::$id),*];

            /// Short name: `"f32"`, `"pred"`, `"i32"`, `"ui8"`, `"bf16"`, `"c64"`…; `"unknown"` for
            /// a number that this crate does not know.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$id => $name,)* _ => "unknown" }
            }

            /// Bytes per element as XLA stores them for a handler (types below 8 bits take a whole
            /// byte there); `None` where that is not known.
            #[must_use]
            pub const fn size(self) -> Option<usize> {
                match self { $(DataType::$id => Some($size),)* _ => None }
            }
        }
    };
}

data_types! {
    /// No type.
    INVALID = 0, "invalid", 0;
    /// Truth value in one byte.
    PRED = 1, "pred", 1;
    /// Signed, 8 bits.
    S8 = 2, "i8", 1;
    /// Signed, 16 bits.
    S16 = 3, "i16", 2;
    /// Signed, 32 bits.
    S32 = 4, "i32", 4;
    /// Signed, 64 bits.
    S64 = 5, "i64", 8;
    /// Unsigned, 8 bits.
    U8 = 6, "ui8", 1;
    /// Unsigned, 16 bits.
    U16 = 7, "ui16", 2;
    /// Unsigned, 32 bits.
    U32 = 8, "ui32", 4;
    /// Unsigned, 64 bits.
    U64 = 9, "ui64", 8;
    /// IEEE half precision.
    F16 = 10, "f16", 2;
    /// IEEE single precision.
    F32 = 11, "f32", 4;
    /// IEEE double precision.
    F64 = 12, "f64", 8;
    /// Two `f32`: real and imaginary part.
    C64 = 15, "c64", 8;
    /// Single precision cut to 16 bits.
    BF16 = 16, "bf16", 2;
    /// Orders side effects; no data.
    TOKEN = 17, "token", 0;
    /// Two `f64`: real and imaginary part.
    C128 = 18, "c128", 16;
    /// 8-bit float.
    F8E5M2 = 19, "f8E5M2", 1;
    /// 8-bit float.
    F8E4M3FN = 20, "f8E4M3FN", 1;
    /// Signed, 4 bits.
    S4 = 21, "i4", 1;
    /// Unsigned, 4 bits.
    U4 = 22, "ui4", 1;
    /// 8-bit float.
    F8E4M3B11FNUZ = 23, "f8E4M3B11FNUZ", 1;
    /// 8-bit float.
    F8E5M2FNUZ = 24, "f8E5M2FNUZ", 1;
    /// 8-bit float.
    F8E4M3FNUZ = 25, "f8E4M3FNUZ", 1;
    /// Signed, 2 bits.
    S2 = 26, "i2", 1;
    /// Unsigned, 2 bits.
    U2 = 27, "ui2", 1;
    /// 8-bit float.
    F8E4M3 = 28, "f8E4M3", 1;
    /// 8-bit float.
    F8E3M4 = 29, "f8E3M4", 1;
    /// Signed, 1 bit.
    S1 = 30, "i1", 1;
    /// Unsigned, 1 bit.
    U1 = 31, "ui1", 1;
    /// 4-bit float.
    F4E2M1FN = 32, "f4E2M1FN", 1;
    /// 8-bit exponent.
    F8E8M0FNU = 33, "f8E8M0FNU", 1;
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size() {
            Some(_) => f.write_str(self.name()),
            None => write!(f, "unknown dtype {}", self.0),
        }
    }
}

impl fmt::Debug for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

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
