//! Elements as text, and what is finite, by dtype.

use half::{bf16, f16};
use num_complex::Complex;

use crate::{DataKind, DataType};

/// An element as R would write it; bytes of other types in hexadecimal.
pub(super) fn text(dtype: DataType, element: &[u8]) -> String {
    macro_rules! number {
        ($ty:ty) => {
            element
                .try_into()
                .map(|bytes| <$ty>::from_ne_bytes(bytes).to_string())
                .ok()
        };
    }
    let known = match dtype {
        DataType::PRED => match element {
            [0] => Some("FALSE".to_owned()),
            [1] => Some("TRUE".to_owned()),
            _ => None,
        },
        DataType::S8 => number!(i8),
        DataType::S16 => number!(i16),
        DataType::S32 => number!(i32),
        DataType::S64 => number!(i64),
        DataType::U8 => number!(u8),
        DataType::U16 => number!(u16),
        DataType::U32 => number!(u32),
        DataType::U64 => number!(u64),
        DataType::C64 | DataType::C128 => {
            let part = dtype.part().unwrap_or(dtype);
            let (re, im) = element.split_at(element.len() / 2);
            complex(real(part, re), real(part, im))
        }
        _ => real(dtype, element).map(real_text),
    };
    known.unwrap_or_else(|| {
        let hex: String = element.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("0x{hex}")
    })
}

/// A number of floating point, with the digits that its type needs.
enum Real {
    Single(f32),
    Double(f64),
}

fn real(dtype: DataType, bytes: &[u8]) -> Option<Real> {
    Some(match dtype {
        DataType::F16 => Real::Single(f16::from_ne_bytes(bytes.try_into().ok()?).to_f32()),
        DataType::BF16 => Real::Single(bf16::from_ne_bytes(bytes.try_into().ok()?).to_f32()),
        DataType::F32 => Real::Single(f32::from_ne_bytes(bytes.try_into().ok()?)),
        DataType::F64 => Real::Double(f64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}

fn real_text(number: Real) -> String {
    let text = match number {
        Real::Single(x) => format!("{x:?}"),
        Real::Double(x) => format!("{x:?}"),
    };
    match text.as_str() {
        "inf" => "Inf".to_owned(),
        "-inf" => "-Inf".to_owned(),
        _ => text.strip_suffix(".0").unwrap_or(&text).to_owned(),
    }
}

fn complex(re: Option<Real>, im: Option<Real>) -> Option<String> {
    let number = Complex::new(real_text(re?), real_text(im?));
    let sign = if number.im.starts_with('-') { "" } else { "+" };
    Some(format!("{}{sign}{}i", number.re, number.im))
}

/// The bytes of what is written as one: of a complex number its parts.
pub(super) fn part_size(dtype: DataType) -> usize {
    dtype.part().unwrap_or(dtype).size().unwrap_or(1).max(1)
}

/// Whether a part, as [`part_size`] has it, is NaN: of which there are many, and which of them comes
/// of an operation is not said.
pub(super) fn is_nan(dtype: DataType, part: &[u8]) -> bool {
    match real(dtype.part().unwrap_or(dtype), part) {
        Some(Real::Single(x)) => x.is_nan(),
        Some(Real::Double(x)) => x.is_nan(),
        None => false,
    }
}

/// The first element that is NaN or infinite, and how many are; `None` for a type that has none.
pub(super) fn first_not_finite(dtype: DataType, bytes: &[u8]) -> Option<(usize, usize)> {
    let info = dtype.info()?;
    if !matches!(info.kind, DataKind::Float | DataKind::Complex) {
        return None;
    }
    let part = dtype.part().unwrap_or(dtype);
    match part {
        DataType::F16 => find(bytes, info.size, |b| f16::from_ne_bytes(b).is_finite()),
        DataType::BF16 => find(bytes, info.size, |b| bf16::from_ne_bytes(b).is_finite()),
        DataType::F32 => find(bytes, info.size, |b| f32::from_ne_bytes(b).is_finite()),
        DataType::F64 => find(bytes, info.size, |b| f64::from_ne_bytes(b).is_finite()),
        _ => None,
    }
}

fn find<const PART: usize>(
    bytes: &[u8],
    element: usize,
    is_finite: impl Fn([u8; PART]) -> bool,
) -> Option<(usize, usize)> {
    let finite = |element: &[u8]| {
        element
            .chunks_exact(PART)
            .all(|part| part.try_into().map_or(true, &is_finite))
    };
    let mut elements = bytes.chunks_exact(element);
    let first = elements.position(|element| !finite(element))?;
    Some((
        first,
        1 + elements.filter(|element| !finite(element)).count(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_as_r_does() {
        assert_eq!(text(DataType::F64, &1f64.to_ne_bytes()), "1");
        assert_eq!(text(DataType::F64, &1e-300f64.to_ne_bytes()), "1e-300");
        assert_eq!(text(DataType::F32, &0.1f32.to_ne_bytes()), "0.1");
        assert_eq!(text(DataType::F32, &f32::NAN.to_ne_bytes()), "NaN");
        assert_eq!(
            text(DataType::F64, &f64::NEG_INFINITY.to_ne_bytes()),
            "-Inf"
        );
        assert_eq!(
            text(DataType::BF16, &bf16::from_f32(2.5).to_ne_bytes()),
            "2.5"
        );
        assert_eq!(text(DataType::PRED, &[1]), "TRUE");
        assert_eq!(text(DataType::PRED, &[165]), "0xa5");
        assert_eq!(text(DataType::S64, &(-7i64).to_ne_bytes()), "-7");
        let parts = [1.5f32, -2.0].map(f32::to_ne_bytes).concat();
        assert_eq!(text(DataType::C64, &parts), "1.5-2i");
    }

    #[test]
    fn what_is_not_finite_is_counted_by_elements() {
        let parts = [1.0, 2.0, f64::NAN, f64::INFINITY, 0.0, f64::NAN];
        let bytes = parts.map(f64::to_ne_bytes).concat();
        assert_eq!(first_not_finite(DataType::F64, &bytes), Some((2, 3)));
        assert_eq!(first_not_finite(DataType::C128, &bytes), Some((1, 2)));
        assert_eq!(first_not_finite(DataType::S64, &bytes), None);
        let halves = [f16::ONE, f16::INFINITY].map(f16::to_ne_bytes).concat();
        assert_eq!(first_not_finite(DataType::F16, &halves), Some((1, 1)));
    }
}
