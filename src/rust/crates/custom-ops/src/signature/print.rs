//! A signature in its usual form.

use core::fmt::{self, Display, Formatter, Write};

use super::ast::{
    Array, Attribute, AttributeKind, AttributeValue, Dim, Dtype, Operand, Order, Outcome, Signature,
};

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operands: Vec<String> = self.operands.iter().map(|o| self.operand_text(o)).collect();
        let attributes: Vec<String> = self
            .attributes
            .iter()
            .map(|a| self.attribute_text(a))
            .collect();
        let results: Vec<String> = self.results.iter().map(|r| self.result_text(r)).collect();
        let scratch: Vec<String> = self.scratch.iter().map(|s| self.array_text(s)).collect();
        f.write_str(&operands.join(", "))?;
        let attributes = attributes.join(", ");
        if !attributes.is_empty() {
            write!(f, "; {attributes}")?;
        }
        f.write_str(if operands.is_empty() && attributes.is_empty() {
            "->"
        } else {
            " ->"
        })?;
        if !results.is_empty() {
            write!(f, " {}", results.join(", "))?;
        }
        if !scratch.is_empty() {
            write!(f, "; {}", scratch.join(", "))?;
        }
        Ok(())
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

    /// `w: T[m]?`
    #[must_use]
    pub fn operand_text(&self, operand: &Operand) -> String {
        let optional = if operand.optional { "?" } else { "" };
        let (array, count) = (&operand.array, self.count_text(operand.count));
        format!(
            "{}{optional}{count}{}",
            self.type_text(array),
            order_text(array)
        )
    }

    /// `ys: T[n]*k`
    #[must_use]
    pub fn result_text(&self, result: &Outcome) -> String {
        let (array, count) = (&result.array, self.count_text(result.count));
        format!("{}{count}{}", self.type_text(array), order_text(array))
    }

    /// `a: T[..., m, n] column`
    #[must_use]
    pub fn array_text(&self, array: &Array) -> String {
        format!("{}{}", self.type_text(array), order_text(array))
    }

    /// `alpha: f64 = 1`
    #[must_use]
    pub fn attribute_text(&self, attribute: &Attribute) -> String {
        let kind = match &attribute.kind {
            AttributeKind::Scalar(dtype) => dtype.name().to_string(),
            AttributeKind::Array(dtype, length) => format!("{dtype}[{}]", self.dim_text(length)),
            AttributeKind::Text => "str".to_string(),
        };
        let default = attribute.default.as_ref();
        let default = default.map_or_else(String::new, |value| format!(" = {value}"));
        format!("{}: {kind}{default}", attribute.name)
    }

    /// `a: T[..., m, n]`
    fn type_text(&self, array: &Array) -> String {
        let dims = array.dims.iter().map(|dim| self.dim_text(dim));
        let batch = array.batch.then(|| "...".to_string());
        let dims: Vec<String> = batch.into_iter().chain(dims).collect();
        let dtype = self.dtype_text(&array.dtype);
        format!("{}: {dtype}[{}]", array.name, dims.join(", "))
    }

    fn count_text(&self, count: Option<usize>) -> String {
        count.map_or_else(String::new, |index| format!("*{}", self.dims[index]))
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
