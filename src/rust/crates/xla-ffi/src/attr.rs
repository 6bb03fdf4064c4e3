//! One attribute: a scalar, an array, a string or a dictionary.

use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use core::{mem, ptr, slice, str};

use num_complex::Complex;

use crate::attrs::Attrs;
use crate::dims::byte_len;
use crate::{sys, DataType, Pred, Scalar};

/// What an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttrType {
    /// One number or truth value.
    Scalar(DataType),
    /// A dense array.
    Array(DataType),
    /// Bytes.
    String,
    /// Named attributes.
    Dictionary,
    /// Any of these.
    Any,
    /// One that this crate does not know.
    Unknown(i32),
}

impl fmt::Display for AttrType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrType::Scalar(dtype) => write!(f, "a scalar {dtype}"),
            AttrType::Array(dtype) => write!(f, "an array of {dtype}"),
            AttrType::String => f.write_str("a string"),
            AttrType::Dictionary => f.write_str("a dictionary"),
            AttrType::Any => f.write_str("anything"),
            AttrType::Unknown(raw) => write!(f, "an attribute of unknown type {raw}"),
        }
    }
}

/// One attribute, before its type is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AnyAttr<'f> {
    type_: AttrType,
    // The start and, in elements, the length; a dictionary's is its `XLA_FFI_Attrs` and 1.
    data: *const c_void,
    len: usize,
    _frame: PhantomData<&'f [u8]>,
}

// SAFETY: attributes are constants of the program; nobody writes them.
unsafe impl Send for AnyAttr<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyAttr<'_> {}

impl<'f> AnyAttr<'f> {
    /// # Safety
    /// `value` is what XLA gives for an attribute of that type, and lives for `'f`.
    pub(crate) unsafe fn from_raw(type_: sys::XLA_FFI_AttrType, value: *mut c_void) -> Self {
        let (type_, data, len) = match type_ {
            _ if value.is_null() => (AttrType::Unknown(type_), ptr::null(), 0),
            sys::XLA_FFI_AttrType_SCALAR => {
                // SAFETY: XLA's scalar attributes point to this struct.
                let raw = unsafe { &*value.cast::<sys::XLA_FFI_Scalar>() };
                (
                    AttrType::Scalar(DataType(raw.dtype)),
                    raw.value.cast_const(),
                    1,
                )
            }
            sys::XLA_FFI_AttrType_ARRAY => {
                // SAFETY: XLA's array attributes point to this struct.
                let raw = unsafe { &*value.cast::<sys::XLA_FFI_Array>() };
                (
                    AttrType::Array(DataType(raw.dtype)),
                    raw.data.cast_const(),
                    raw.size,
                )
            }
            sys::XLA_FFI_AttrType_STRING => {
                // SAFETY: XLA's string attributes point to this struct.
                let raw = unsafe { &*value.cast::<sys::XLA_FFI_ByteSpan>() };
                (AttrType::String, raw.ptr.cast(), raw.len)
            }
            sys::XLA_FFI_AttrType_DICTIONARY => (AttrType::Dictionary, value.cast_const(), 1),
            other => (AttrType::Unknown(other), ptr::null(), 0),
        };
        AnyAttr {
            type_,
            data,
            len,
            _frame: PhantomData,
        }
    }

    /// What it holds.
    #[must_use]
    pub fn type_(&self) -> AttrType {
        self.type_
    }

    /// Where the value or the first element lies, and how many elements or bytes there are; null for
    /// what this crate does not know. It may be less aligned than its type.
    #[must_use]
    pub fn as_raw(&self) -> (*const c_void, usize) {
        (self.data, self.len)
    }

    /// The value of a scalar, if it is a `T`.
    #[must_use]
    pub fn scalar<T: Scalar>(&self) -> Option<T> {
        let ok = self.type_ == AttrType::Scalar(T::DTYPE) && !self.data.is_null();
        // SAFETY: XLA stores one value of this dtype there, aligned or not; any bit pattern is a
        // `T`.
        ok.then(|| unsafe { self.data.cast::<T>().read_unaligned() })
    }

    /// The elements of an array, if it is one of `T`.
    #[must_use]
    pub fn array<T: Scalar>(&self) -> Option<&'f [T]> {
        if self.type_ != AttrType::Array(T::DTYPE) {
            return None;
        }
        if self.len == 0 {
            return Some(&[]);
        }
        let data = self.data.cast::<T>();
        let ok = !data.is_null()
            && data.align_offset(mem::align_of::<T>()) == 0
            && byte_len(T::DTYPE, self.len).is_some();
        // SAFETY: XLA stores `len` elements of this dtype there, never writes them, and they live
        // for `'f`; no slice is longer than Rust's may be.
        ok.then(|| unsafe { slice::from_raw_parts(data, self.len) })
    }

    /// The bytes of a string, if it is one.
    #[must_use]
    pub fn bytes(&self) -> Option<&'f [u8]> {
        if self.type_ != AttrType::String {
            return None;
        }
        if self.len == 0 {
            return Some(&[]);
        }
        let ok = !self.data.is_null() && byte_len(DataType::U8, self.len).is_some();
        // SAFETY: as in `array`.
        ok.then(|| unsafe { slice::from_raw_parts(self.data.cast::<u8>(), self.len) })
    }

    /// The named attributes of a dictionary, if it is one.
    #[must_use]
    pub fn dictionary(&self) -> Option<Attrs<'f>> {
        let ok = self.type_ == AttrType::Dictionary && !self.data.is_null();
        // SAFETY: XLA's dictionaries point to this struct, which lives for `'f`.
        ok.then(|| unsafe { Attrs::from_raw(&*self.data.cast::<sys::XLA_FFI_Attrs>()) })
    }
}

/// A Rust type that an attribute can be read as: each [`Scalar`], `bool`, `&[T]`, `&str`,
/// [`Attrs`], [`AnyAttr`].
pub trait AttrValue<'f>: Sized {
    /// What the attribute must hold.
    const TYPE: AttrType;

    /// The value, or `None` if the attribute holds something else.
    fn read(attr: AnyAttr<'f>) -> Option<Self>;
}

macro_rules! scalar_values {
    ($($ty:ty),* $(,)?) => {$(
        impl<'f> AttrValue<'f> for $ty {
            const TYPE: AttrType = AttrType::Scalar(<$ty as Scalar>::DTYPE);

            fn read(attr: AnyAttr<'f>) -> Option<Self> {
                attr.scalar()
            }
        }
    )*};
}

scalar_values!(Pred, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
scalar_values!(half::f16, half::bf16, Complex<f32>, Complex<f64>);

impl<'f> AttrValue<'f> for bool {
    const TYPE: AttrType = AttrType::Scalar(DataType::PRED);

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.scalar::<Pred>().map(Pred::get)
    }
}

impl<'f, T: Scalar> AttrValue<'f> for &'f [T] {
    const TYPE: AttrType = AttrType::Array(T::DTYPE);

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.array()
    }
}

/// UTF-8 text; see [`AnyAttr::bytes`] for other bytes.
impl<'f> AttrValue<'f> for &'f str {
    const TYPE: AttrType = AttrType::String;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        str::from_utf8(attr.bytes()?).ok()
    }
}

impl<'f> AttrValue<'f> for Attrs<'f> {
    const TYPE: AttrType = AttrType::Dictionary;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.dictionary()
    }
}

impl<'f> AttrValue<'f> for AnyAttr<'f> {
    const TYPE: AttrType = AttrType::Any;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        Some(attr)
    }
}
