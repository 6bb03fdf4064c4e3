//! Attributes: a scalar, an array, a string or a dictionary each.

use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use core::{mem, ptr, slice};

use crate::dims::byte_len;
use crate::{sys, DataType, Scalar};

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

/// The attributes of a call or of a dictionary.
#[derive(Clone, Copy, Debug)]
pub struct Attrs<'f> {
    types: &'f [sys::XLA_FFI_AttrType],
    names: &'f [*mut sys::XLA_FFI_ByteSpan],
    values: &'f [*mut c_void],
}

// SAFETY: attributes are constants of the program; nobody writes them.
unsafe impl Send for Attrs<'_> {}
// SAFETY: as above.
unsafe impl Sync for Attrs<'_> {}

impl<'f> Attrs<'f> {
    /// # Safety
    /// `raw` is XLA's, and all it points to lives, unchanged, for `'f`.
    pub(crate) unsafe fn from_raw(raw: &sys::XLA_FFI_Attrs) -> Self {
        // SAFETY: by contract the three arrays have `size` entries.
        unsafe {
            Attrs {
                types: raw_slice(raw.types, raw.size),
                names: raw_slice(raw.names, raw.size),
                values: raw_slice(raw.attrs, raw.size),
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Name and value of each, in XLA's order (sorted by name).
    pub fn iter(&self) -> impl Iterator<Item = (&'f [u8], AnyAttr<'f>)> + 'f {
        let all = self.types.iter().zip(self.names).zip(self.values);
        all.map(|((&type_, &name), &value)| {
            // SAFETY: XLA's names and values, see `from_raw`.
            unsafe { (name_of(name), AnyAttr::from_raw(type_, value)) }
        })
    }

    /// The attribute of that name, whatever it holds.
    // A linear search: there are few, and a host that does not sort them does no harm.
    #[must_use]
    #[inline(never)] // once, not for each attribute
    pub fn find(&self, name: &str) -> Option<AnyAttr<'f>> {
        let is_it = |&raw: &*mut sys::XLA_FFI_ByteSpan| {
            // SAFETY: XLA's names, see `from_raw`.
            unsafe { name_of(raw) == name.as_bytes() }
        };
        let at = self.names.iter().position(is_it)?;
        // SAFETY: XLA's values, see `from_raw`.
        Some(unsafe { AnyAttr::from_raw(*self.types.get(at)?, *self.values.get(at)?) })
    }
}

/// # Safety
/// `data` is null or has `size` elements that live, unchanged, for `'f`.
#[inline]
pub(crate) unsafe fn raw_slice<'f, T>(data: *const T, size: i64) -> &'f [T] {
    match usize::try_from(size) {
        // SAFETY: by contract.
        Ok(len) if len > 0 && !data.is_null() => unsafe { slice::from_raw_parts(data, len) },
        _ => &[],
    }
}

/// # Safety
/// `name` is null or a byte span that lives, unchanged, for `'f`.
unsafe fn name_of<'f>(name: *const sys::XLA_FFI_ByteSpan) -> &'f [u8] {
    if name.is_null() {
        return &[];
    }
    // SAFETY: by contract.
    unsafe {
        raw_slice(
            (*name).ptr.cast::<u8>(),
            i64::try_from((*name).len).unwrap_or(0),
        )
    }
}
