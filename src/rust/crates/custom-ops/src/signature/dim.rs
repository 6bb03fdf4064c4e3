//! Arithmetic with dimensions.

use core::fmt;

use super::ast::Dim;

/// Why a dimension has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimProblem {
    /// A part of it is not within 64 bits.
    Overflow,
    /// A part of it is divided by zero.
    ByZero,
}

impl fmt::Display for DimProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DimProblem::Overflow => "overflows",
            DimProblem::ByZero => "divides by zero",
        })
    }
}

/// `a / b`, rounded down.
pub(crate) fn divide(a: i64, b: i64) -> Result<i64, DimProblem> {
    if b == 0 {
        return Err(DimProblem::ByZero);
    }
    let quotient = a.checked_div(b).ok_or(DimProblem::Overflow)?;
    Ok(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
}

/// Whatever is made of two others.
macro_rules! of_two {
    ($a:ident, $b:ident) => {
        Dim::Add($a, $b)
            | Dim::Subtract($a, $b)
            | Dim::Multiply($a, $b)
            | Dim::Divide($a, $b)
            | Dim::Min($a, $b)
            | Dim::Max($a, $b)
    };
}

impl Dim {
    /// Its value, where all that it names have one: `dims` has those of the named dimensions,
    /// `attributes` those of the attributes, both by index.
    ///
    /// # Errors
    /// It overflows, or divides by zero.
    ///
    /// # Panics
    /// An index is beyond the values.
    pub fn eval(&self, dims: &[i64], attributes: &[i64]) -> Result<i64, DimProblem> {
        let value = |dim: &Dim| dim.eval(dims, attributes);
        let within = |value: Option<i64>| value.ok_or(DimProblem::Overflow);
        match self {
            Dim::Number(number) => Ok(*number),
            Dim::Name(index) => Ok(dims[*index]),
            Dim::Attribute(index) => Ok(attributes[*index]),
            Dim::Add(a, b) => within(value(a)?.checked_add(value(b)?)),
            Dim::Subtract(a, b) => within(value(a)?.checked_sub(value(b)?)),
            Dim::Multiply(a, b) => within(value(a)?.checked_mul(value(b)?)),
            Dim::Divide(a, b) => divide(value(a)?, value(b)?),
            Dim::Min(a, b) => Ok(value(a)?.min(value(b)?)),
            Dim::Max(a, b) => Ok(value(a)?.max(value(b)?)),
        }
    }

    /// The value of one that names nothing.
    pub(super) fn constant(&self) -> Option<Result<i64, DimProblem>> {
        let mut named = false;
        self.visit(&mut |leaf| named |= !matches!(leaf, Dim::Number(_)));
        (!named).then(|| self.eval(&[], &[]))
    }

    /// Calls `leaf` for each number and name, from left to right.
    pub fn visit(&self, leaf: &mut impl FnMut(&Dim)) {
        match self {
            Dim::Number(_) | Dim::Name(_) | Dim::Attribute(_) => leaf(self),
            of_two!(a, b) => {
                a.visit(leaf);
                b.visit(leaf);
            }
        }
    }

    /// Replaces each number and name.
    pub(super) fn replace(&mut self, leaf: &impl Fn(&mut Dim)) {
        match self {
            Dim::Number(_) | Dim::Name(_) | Dim::Attribute(_) => leaf(self),
            of_two!(a, b) => {
                a.replace(leaf);
                b.replace(leaf);
            }
        }
    }
}
