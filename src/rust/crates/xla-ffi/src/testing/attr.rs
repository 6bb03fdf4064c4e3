//! Attributes laid out as XLA does.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;
use std::any::Any;

use super::memory::{bytes_of, AlignedBytes};
use crate::{sys, DataType, Scalar};

/// The value of an attribute; made from any [`Scalar`], `bool`, slice of scalars, `&str`, or list
/// of named values.
#[derive(Clone, Debug)]
pub enum Value {
    /// One element.
    Scalar(DataType, Vec<u8>),
    /// A dense array.
    Array(DataType, Vec<u8>),
    /// Bytes.
    String(Vec<u8>),
    /// Named values.
    Dictionary(Vec<(String, Value)>),
}

impl<T: Scalar> From<T> for Value {
    fn from(value: T) -> Self {
        Value::Scalar(T::DTYPE, bytes_of(&[value]).to_vec())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        crate::Pred::from(value).into()
    }
}

impl<T: Scalar> From<&[T]> for Value {
    fn from(value: &[T]) -> Self {
        Value::Array(T::DTYPE, bytes_of(value).to_vec())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::String(value.into())
    }
}

impl From<Vec<(String, Value)>> for Value {
    fn from(value: Vec<(String, Value)>) -> Self {
        Value::Dictionary(value)
    }
}

/// An `XLA_FFI_Attrs` and all it points to.
#[derive(Debug)]
pub(super) struct RawAttrs {
    types: Vec<sys::XLA_FFI_AttrType>,
    names: Vec<*mut sys::XLA_FFI_ByteSpan>,
    values: Vec<*mut c_void>,
    keep: Vec<Kept>,
}

/// What others point to. Not a `Box`, which may not be moved while it is pointed to.
#[derive(Debug)]
struct Kept(*mut dyn Any);

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw`, and dropped once; who points to it goes, too.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl RawAttrs {
    pub(super) fn new(mut attrs: Vec<(String, Value)>) -> Self {
        attrs.sort_by(|a, b| a.0.cmp(&b.0));
        let mut raw = RawAttrs {
            types: Vec::new(),
            names: Vec::new(),
            values: Vec::new(),
            keep: Vec::new(),
        };
        for (name, value) in attrs {
            let span = raw.span(name.into_bytes());
            let name = raw.keep(span);
            let (type_, value) = raw.value(value);
            raw.types.push(type_);
            raw.names.push(name);
            raw.values.push(value);
        }
        raw
    }

    pub(super) fn raw(&self) -> sys::XLA_FFI_Attrs {
        sys::XLA_FFI_Attrs {
            struct_size: size_of::<sys::XLA_FFI_Attrs>(),
            extension_start: ptr::null_mut(),
            size: self.types.len() as i64,
            types: self.types.as_ptr().cast_mut(),
            names: self.names.as_ptr().cast_mut(),
            attrs: self.values.as_ptr().cast_mut(),
        }
    }

    fn keep<T: 'static>(&mut self, value: T) -> *mut T {
        let address = Box::into_raw(Box::new(value));
        self.keep.push(Kept(address));
        address
    }

    fn memory(&mut self, bytes: &[u8]) -> *mut c_void {
        let memory = self.keep(AlignedBytes::from_bytes(bytes));
        // SAFETY: just made, and kept as long as `self`.
        unsafe { (*memory).as_mut_ptr() }
    }

    fn span(&mut self, bytes: Vec<u8>) -> sys::XLA_FFI_ByteSpan {
        sys::XLA_FFI_ByteSpan {
            ptr: self.memory(&bytes).cast_const().cast(),
            len: bytes.len(),
        }
    }

    fn value(&mut self, value: Value) -> (sys::XLA_FFI_AttrType, *mut c_void) {
        match value {
            Value::Scalar(dtype, bytes) => {
                let raw = sys::XLA_FFI_Scalar {
                    dtype: dtype.0,
                    value: self.memory(&bytes),
                };
                (sys::XLA_FFI_AttrType_SCALAR, self.keep(raw).cast())
            }
            Value::Array(dtype, bytes) => {
                let size = dtype.size().map_or(0, |size| bytes.len() / size);
                let data = self.memory(&bytes);
                let raw = sys::XLA_FFI_Array {
                    dtype: dtype.0,
                    size,
                    data,
                };
                (sys::XLA_FFI_AttrType_ARRAY, self.keep(raw).cast())
            }
            Value::String(bytes) => {
                let span = self.span(bytes);
                (sys::XLA_FFI_AttrType_STRING, self.keep(span).cast())
            }
            Value::Dictionary(attrs) => {
                let attrs = RawAttrs::new(attrs);
                let raw = attrs.raw();
                self.keep(attrs);
                (sys::XLA_FFI_AttrType_DICTIONARY, self.keep(raw).cast())
            }
        }
    }
}
