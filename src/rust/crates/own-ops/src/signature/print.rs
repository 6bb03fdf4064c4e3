//! A signature in its usual form.

use core::fmt::{self, Display, Formatter, Write};

use super::ast::{Array, Attribute, AttributeKind, AttributeValue, Dim, Dtype, Order, Signature};

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (index, operand) in self.operands.iter().enumerate() {
            text += if index > 0 { ", " } else { "" };
            text += &self.array_text(&operand.array);
            text += if operand.optional { "?" } else { "" };
            text += &self.count_text(operand.count);
            text += order_text(&operand.array);
        }
        for (index, attribute) in self.attributes.iter().enumerate() {
            text += if index > 0 { ", " } else { "; " };
            text += &self.attribute_text(attribute);
        }
        text += if text.is_empty() { "->" } else { " ->" };
        for (index, result) in self.results.iter().enumerate() {
            text += if index > 0 { ", " } else { " " };
            text += &self.array_text(&result.array);
            text += &self.count_text(result.count);
            text += order_text(&result.array);
        }
        for (index, scratch) in self.scratch.iter().enumerate() {
            text += if index > 0 { ", " } else { "; " };
            text += &self.array_text(scratch);
            text += order_text(scratch);
        }
        f.write_str(text.trim_start())
    }
}

impl Signature {
    /// `wider(T, U)`
    #[must_use]
    pub fn dtype_text(&self, dtype: &Dtype) -> String {
        match dtype {
            Dtype::Fixed(dtype) => dtype.name().to_string(),
            Dtype::Variable(index) => self.dtypes[*index].clone(),
            Dtype::Wider(a, b) => format!("wider({}, {})", self.dtype_text(a), self.dtype_text(b)),
            Dtype::Real(a) => format!("real({})", self.dtype_text(a)),
            Dtype::Complex(a) => format!("complex({})", self.dtype_text(a)),
        }
    }

    /// `2*n + 1`, with no more parentheses than it needs.
    #[must_use]
    pub fn dim_text(&self, dim: &Dim) -> String {
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = self.write_dim(&mut text, dim, 0);
        text
    }

    /// `a: T[..., m, n]`
    fn array_text(&self, array: &Array) -> String {
        let dims = array.dims.iter().map(|dim| self.dim_text(dim));
        let dims = array
            .batch
            .then(|| "...".to_string())
            .into_iter()
            .chain(dims);
        let dims: Vec<String> = dims.collect();
        format!(
            "{}: {}[{}]",
            array.name,
            self.dtype_text(&array.dtype),
            dims.join(", ")
        )
    }

    fn count_text(&self, count: Option<usize>) -> String {
        count.map_or_else(String::new, |index| format!("*{}", self.dims[index]))
    }

    fn attribute_text(&self, attribute: &Attribute) -> String {
        let kind = match &attribute.kind {
            AttributeKind::Scalar(dtype) => dtype.name().to_string(),
            AttributeKind::Array(dtype, length) => format!("{dtype}[{}]", self.dim_text(length)),
            AttributeKind::Text => "str".to_string(),
        };
        let default = attribute
            .default
            .as_ref()
            .map_or_else(String::new, |value| format!(" = {value}"));
        format!("{}: {kind}{default}", attribute.name)
    }

    /// `level`: 0 in a sum, 1 in a product or behind a minus, 2 behind `*` or `/`.
    fn write_dim(&self, f: &mut String, dim: &Dim, level: u8) -> fmt::Result {
        let (a, sign, b, own) = match dim {
            Dim::Number(number) => return write!(f, "{number}"),
            Dim::Name(index) => return f.write_str(&self.dims[*index]),
            Dim::Attribute(index) => return f.write_str(&self.attributes[*index].name),
            Dim::Min(a, b) | Dim::Max(a, b) => {
                f.write_str(if matches!(dim, Dim::Min(..)) {
                    "min("
                } else {
                    "max("
                })?;
                self.write_dim(f, a, 0)?;
                f.write_str(", ")?;
                self.write_dim(f, b, 0)?;
                return f.write_char(')');
            }
            Dim::Add(a, b) => (a, " + ", b, 0),
            Dim::Subtract(a, b) => (a, " - ", b, 0),
            Dim::Multiply(a, b) => (a, "*", b, 1),
            Dim::Divide(a, b) => (a, "/", b, 1),
        };
        let within = own < level;
        f.write_str(if within { "(" } else { "" })?;
        self.write_dim(f, a, own)?;
        f.write_str(sign)?;
        self.write_dim(f, b, own + 1)?;
        f.write_str(if within { ")" } else { "" })
    }
}

fn order_text(array: &Array) -> &'static str {
    match array.order {
        Order::Row => "",
        Order::Column => " column",
    }
}

impl Display for AttributeValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AttributeValue::Integer(value) => value.fmt(f),
            AttributeValue::Float(value) if value.is_nan() => f.write_str("nan"),
            // `-0` would be an integer.
            AttributeValue::Float(value) if *value == 0.0 && value.is_sign_negative() => {
                f.write_str("-0.0")
            }
            AttributeValue::Float(value)
                if (1e-5..1e16).contains(&value.abs()) || *value == 0.0 =>
            {
                value.fmt(f)
            }
            AttributeValue::Float(value) if value.is_infinite() => value.fmt(f),
            AttributeValue::Float(value) => write!(f, "{value:e}"),
            AttributeValue::Pred(value) => value.fmt(f),
            AttributeValue::Text(text) => {
                f.write_char('"')?;
                for character in text.chars() {
                    match character {
                        '\n' => f.write_str("\\n")?,
                        '\t' => f.write_str("\\t")?,
                        '"' | '\\' => write!(f, "\\{character}")?,
                        other => f.write_char(other)?,
                    }
                }
                f.write_char('"')
            }
            AttributeValue::Array(values) => {
                f.write_char('[')?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    value.fmt(f)?;
                }
                f.write_char(']')
            }
        }
    }
}
