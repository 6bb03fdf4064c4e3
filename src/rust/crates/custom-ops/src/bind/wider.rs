//! Element types of results.

use xla_ffi::{DataKind, DataType};

use crate::signature::Dtype;

/// The type that holds the values of both: numpy's `result_type`, whose rule is to lose nothing
/// (JAX gives `f32` for `i32` and `f32`, and `f64` is what holds them). `None`: there is none, for
/// `bf16` beside `f16` or beside integers of more than 8 bits.
///
/// | | |
/// |---|---|
/// | `pred`, any | the other |
/// | both signed, or both unsigned | the one with more bits |
/// | signed, unsigned | the signed one if it has more bits, else the signed one with twice the bits of the unsigned one; `f64` beside `ui64` |
/// | integer of 8, 16, more bits and a float | at least `f16` or `bf16`, `f32`, `f64` |
/// | two floats | the one with more bits |
/// | a complex one | the complex numbers whose parts hold both |
#[must_use]
pub fn wider(a: DataType, b: DataType) -> Option<DataType> {
    use DataKind::{Complex, Float, Pred, Signed, Unsigned};
    let (x, y) = (a.info()?, b.info()?);
    match (x.kind, y.kind) {
        _ if a == b => Some(a),
        (Pred, _) => Some(b),
        (_, Pred) => Some(a),
        (Signed, Signed) | (Unsigned, Unsigned) => Some(if x.bits > y.bits { a } else { b }),
        (Signed, Unsigned) => Some(signed(a, x.bits, y.bits)),
        (Unsigned, Signed) => Some(signed(b, y.bits, x.bits)),
        (Complex, _) | (_, Complex) => complex(float(real(a)?, real(b)?)?),
        (Float, _) | (_, Float) => float(a, b),
        _ => None,
    }
}

fn signed(dtype: DataType, bits: usize, unsigned_bits: usize) -> DataType {
    match unsigned_bits {
        _ if bits > unsigned_bits => dtype,
        8 => DataType::S16,
        16 => DataType::S32,
        32 => DataType::S64,
        _ => DataType::F64,
    }
}

/// Of two floats, or a float and an integer or truth value.
fn float(a: DataType, b: DataType) -> Option<DataType> {
    let rank = |dtype: DataType| {
        let info = dtype.info()?;
        Some(match (info.kind, info.bits) {
            (DataKind::Pred, _) | (_, 8 | 16) if info.kind != DataKind::Float && info.bits == 8 => {
                0
            }
            (DataKind::Float, 16) => 1,
            (DataKind::Float, 32) | (_, 16) => 2,
            _ => 3,
        })
    };
    let bf16 = [a, b].contains(&DataType::BF16);
    let other = if a == DataType::BF16 { b } else { a };
    let is_float = other.info()?.kind == DataKind::Float;
    if bf16 && (other == DataType::F16 || (!is_float && rank(other)? > 0)) {
        return None;
    }
    Some(match rank(a)?.max(rank(b)?) {
        0 | 1 if bf16 => DataType::BF16,
        0 | 1 => DataType::F16,
        2 => DataType::F32,
        _ => DataType::F64,
    })
}

/// Of complex numbers their parts' type, else the type itself.
#[must_use]
pub fn real(dtype: DataType) -> Option<DataType> {
    dtype.info()?;
    Some(dtype.part().unwrap_or(dtype))
}

/// The complex numbers with such parts: there are those of `f32` and `f64`.
#[must_use]
pub fn complex(dtype: DataType) -> Option<DataType> {
    match dtype {
        DataType::F32 | DataType::C64 => Some(DataType::C64),
        DataType::F64 | DataType::C128 => Some(DataType::C128),
        _ => None,
    }
}

impl Dtype {
    /// The element type where the variables have these; `None` where [`wider`] or [`complex`] has
    /// none.
    ///
    /// # Panics
    /// There are fewer than the signature has variables.
    #[must_use]
    pub fn eval(&self, variables: &[DataType]) -> Option<DataType> {
        match self {
            Dtype::Fixed(dtype) => Some(*dtype),
            Dtype::Variable(index) => Some(variables[*index]),
            Dtype::Wider(a, b) => wider(a.eval(variables)?, b.eval(variables)?),
            Dtype::Real(a) => real(a.eval(variables)?),
            Dtype::Complex(a) => complex(a.eval(variables)?),
        }
    }

    /// Calls `leaf` for each variable.
    pub(crate) fn visit(&self, leaf: &mut impl FnMut(usize)) {
        match self {
            Dtype::Fixed(_) => {}
            Dtype::Variable(index) => leaf(*index),
            Dtype::Real(a) | Dtype::Complex(a) => a.visit(leaf),
            Dtype::Wider(a, b) => {
                a.visit(leaf);
                b.visit(leaf);
            }
        }
    }
}
