//! Named values: plugin attributes and client options.

use crate::api::{slice, string};
use pjrt_api::*;

/// A value of a plugin attribute or a client option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    String(String),
    /// A whole number.
    Int(i64),
    /// Whole numbers.
    IntList(Vec<i64>),
    /// A single-precision number.
    Float(f32),
    /// True or false.
    Bool(bool),
}

/// The C form of `options`, which borrows from it.
pub(crate) fn to_c(options: &[(String, Value)]) -> Vec<PJRT_NamedValue> {
    options
        .iter()
        .map(|(name, value)| {
            let mut c = PJRT_NamedValue::new();
            c.name = name.as_ptr().cast();
            c.name_size = name.len();
            c.value_size = 1;
            match value {
                Value::String(s) => {
                    c.r#type = PJRT_NamedValue_Type::kString;
                    c.value.string_value = s.as_ptr().cast();
                    c.value_size = s.len();
                }
                Value::Int(i) => {
                    c.r#type = PJRT_NamedValue_Type::kInt64;
                    c.value.int64_value = *i;
                }
                Value::IntList(v) => {
                    c.r#type = PJRT_NamedValue_Type::kInt64List;
                    c.value.int64_array_value = v.as_ptr();
                    c.value_size = v.len();
                }
                Value::Float(x) => {
                    c.r#type = PJRT_NamedValue_Type::kFloat;
                    c.value.float_value = *x;
                }
                Value::Bool(b) => {
                    c.r#type = PJRT_NamedValue_Type::kBool;
                    c.value.bool_value = *b;
                }
            }
            c
        })
        .collect()
}

/// Reads values that a plugin lent; those of a type unknown here are left out.
///
/// # Safety
/// `values` is NULL or points to `len` named values that are valid now.
pub(crate) unsafe fn from_c(values: *const PJRT_NamedValue, len: usize) -> Vec<(String, Value)> {
    // SAFETY: the caller's promise; the union's member is the one that the type names.
    unsafe {
        slice(values, len)
            .iter()
            .filter_map(|c| {
                let value = match c.r#type {
                    PJRT_NamedValue_Type::kString => {
                        Value::String(string(c.value.string_value, c.value_size))
                    }
                    PJRT_NamedValue_Type::kInt64 => Value::Int(c.value.int64_value),
                    PJRT_NamedValue_Type::kInt64List => {
                        Value::IntList(slice(c.value.int64_array_value, c.value_size).to_vec())
                    }
                    PJRT_NamedValue_Type::kFloat => Value::Float(c.value.float_value),
                    PJRT_NamedValue_Type::kBool => Value::Bool(c.value.bool_value),
                    _ => return None,
                };
                Some((string(c.name, c.name_size), value))
            })
            .collect()
    }
}
