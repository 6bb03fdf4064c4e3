//! Defaults of attributes.

use xla_ffi::{DataKind, DataType};

use super::ast::{AttributeKind, AttributeValue, Dim};
use super::dtype::{kind, range};

/// As it is written, before the attribute's type is looked at.
#[derive(Debug)]
pub(super) enum Literal {
    Integer(i64),
    Float(f64),
    Pred(bool),
    Text(String),
    Array(Vec<Literal>),
}

/// The default for an attribute, or what is wrong with it.
pub(super) fn checked(literal: Literal, kind: &AttributeKind) -> Result<AttributeValue, String> {
    match (kind, literal) {
        (AttributeKind::Text, Literal::Text(text)) => Ok(AttributeValue::Text(text)),
        (AttributeKind::Scalar(dtype), literal) => scalar(literal, *dtype),
        (AttributeKind::Array(dtype, length), Literal::Array(literals)) => {
            match *length {
                Dim::Number(length) if usize::try_from(length) != Ok(literals.len()) => {
                    return Err(format!(
                        "the default must have {length} elements, not {}",
                        literals.len()
                    ));
                }
                _ => {}
            }
            let values = literals.into_iter().map(|literal| scalar(literal, *dtype));
            values.collect::<Result<_, _>>().map(AttributeValue::Array)
        }
        (AttributeKind::Text, literal) => Err(format!(
            "the default must be a text, not {}",
            literal.written()
        )),
        (AttributeKind::Array(dtype, _), literal) => Err(format!(
            "the default must be an array of {dtype}, as `[1, 2]`, not {}",
            literal.written()
        )),
    }
}

fn scalar(literal: Literal, dtype: DataType) -> Result<AttributeValue, String> {
    match (kind(dtype), literal) {
        (Some(DataKind::Pred), Literal::Pred(value)) => Ok(AttributeValue::Pred(value)),
        (Some(DataKind::Float), Literal::Integer(value)) => Ok(AttributeValue::Float(value as f64)),
        (Some(DataKind::Float), Literal::Float(value)) => {
            match dtype == DataType::F32 && value.is_finite() && (value as f32).is_infinite() {
                true => Err(format!("{value:e} is beyond f32")),
                false => Ok(AttributeValue::Float(value)),
            }
        }
        (Some(DataKind::Signed | DataKind::Unsigned), Literal::Integer(value)) => {
            let (least, greatest) = range(dtype).unwrap_or((i64::MIN, i64::MAX));
            match (least..=greatest).contains(&value) {
                true => Ok(AttributeValue::Integer(value)),
                false => Err(format!(
                    "{value} is no {dtype}: that holds {least} to {greatest}"
                )),
            }
        }
        (_, literal) => Err(format!(
            "the default must be {}, not {}",
            a(dtype),
            literal.written()
        )),
    }
}

fn a(dtype: DataType) -> String {
    match kind(dtype) {
        Some(DataKind::Pred) => "`true` or `false`".to_string(),
        Some(DataKind::Float) => format!("a number ({dtype})"),
        _ => format!("a whole number ({dtype})"),
    }
}

impl Literal {
    fn written(&self) -> String {
        match self {
            Literal::Integer(value) => value.to_string(),
            Literal::Float(value) => value.to_string(),
            Literal::Pred(value) => value.to_string(),
            Literal::Text(_) => "a text".to_string(),
            Literal::Array(_) => "an array".to_string(),
        }
    }
}
