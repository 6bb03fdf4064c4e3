//! Attributes of a call as R's.

use custom_ops::AttributeValue;
use extendr_ffi::SEXP;
use pjrt::{DType, Order, Shape};
use xla_ffi::{AttrType, Error, Result};

use crate::callback::array::dtype_of;
use crate::host::array::new_array;
use crate::r::failure::Outcome;
use crate::r::value::{IntoSexp, Value};

/// An attribute, copied.
pub struct Attribute {
    /// Its name in the signature.
    pub name: Box<str>,
    /// `None`: text.
    dtype: Option<DType>,
    bytes: Box<[u8]>,
}

impl Attribute {
    /// A copy.
    pub fn of(value: &AttributeValue<'_>) -> Result<Self> {
        let dtype = match value.type_ {
            AttrType::String => None,
            AttrType::Scalar(dtype) | AttrType::Array(dtype) => Some(dtype_of(dtype)?),
            _ => return Err(Error::internal("an attribute that no signature has")),
        };
        Ok(Attribute {
            name: value.name.into(),
            dtype,
            bytes: value.bytes.into(),
        })
    }

    /// As R has it, not protected.
    pub fn to_r(&self) -> Outcome<SEXP> {
        let Some(dtype) = self.dtype else {
            let text = String::from_utf8_lossy(&self.bytes).into_owned();
            return Ok(Value::from(text).into_sexp());
        };
        let count = self.bytes.len() / dtype.size();
        let shape = Shape {
            dtype,
            dims: &[count as i64],
            columns: false,
        };
        let array = new_array(dtype, count, |dest| {
            Ok(shape.read(&self.bytes, dest, Order::ColumnMajor)?)
        })?;
        Ok(array.sexp())
    }
}
