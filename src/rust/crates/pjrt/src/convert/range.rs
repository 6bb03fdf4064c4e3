//! Numbers that an integer type does not have: they are refused before anything is converted.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::host_data::Source;
use std::fmt::Display;
use xla_ffi::DataKind;

/// So many elements are looked at between two decisions: the loop over them has no exit, which
/// lets the compiler use vectors.
const STRIDE: usize = 1024;

/// # Errors
/// `INVALID_ARGUMENT` with the first element that `dtype` does not have.
pub(crate) fn check(source: &Source<'_>, dtype: DType) -> Result<()> {
    let Some((low, high)) = limits(dtype) else {
        return Ok(());
    };
    macro_rules! integers {
        ($x:expr, $S:ty) => {{
            let (least, greatest) = (<$S>::MIN.into(), <$S>::MAX.into());
            if low <= least && greatest <= high {
                return Ok(());
            }
            let (from, to) = (low.max(least) as $S, high.min(greatest) as $S);
            first($x, |x| from <= x && x <= to).map(|(i, x)| refused(i, x, dtype, low, high))
        }};
    }
    let refused = match source {
        // integer64 is what R has for the bits of ui64.
        Source::I64(_) if dtype == DType::U64 => None,
        Source::I64(x) => integers!(x, i64),
        Source::I32(x) => integers!(x, i32),
        Source::U8(x) => integers!(x, u8),
        Source::F64(x) => {
            let (below, above) = (just_below(low as f64), high as f64 + 1.0);
            first(x, |x| below < x && x < above).map(|(i, x)| refused(i, real(x), dtype, low, high))
        }
        Source::Complex(_) | Source::Bytes(_) => None,
    };
    refused.map_or(Ok(()), Err)
}

/// The least and the greatest number of an integer type.
fn limits(dtype: DType) -> Option<(i128, i128)> {
    let bits = dtype.size() * 8;
    match dtype.info().kind {
        DataKind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        DataKind::Unsigned => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}

/// What is greater than this is `low` or more once its fraction is cut off.
fn just_below(low: f64) -> f64 {
    if low - 1.0 < low {
        low - 1.0
    } else {
        // -2⁶³, next to which the numbers are further apart than 1.
        f64::from_bits(low.to_bits() + 1)
    }
}

/// The first element that is not fine, and its index.
fn first<T: Copy>(x: &[T], fine: impl Fn(T) -> bool) -> Option<(usize, T)> {
    x.chunks(STRIDE).enumerate().find_map(|(k, chunk)| {
        if chunk.iter().fold(true, |all, &x| all & fine(x)) {
            return None;
        }
        let i = chunk.iter().position(|&x| !fine(x))?;
        Some((k * STRIDE + i, chunk[i]))
    })
}

fn refused(index: usize, x: impl Display, dtype: DType, low: i128, high: i128) -> Error {
    Error::argument(format!(
        "`data` holds numbers that dtype {dtype} cannot: element {} is {x}, and {dtype} goes from {low} to {high}",
        index + 1
    ))
}

/// A large number without its hundreds of digits.
fn real(x: f64) -> String {
    if x.is_finite() && x.abs() >= 1e17 {
        format!("{x:e}")
    } else {
        x.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest number that is less, of those that are not 0.
    fn down(x: f64) -> f64 {
        f64::from_bits(if x > 0.0 {
            x.to_bits() - 1
        } else {
            x.to_bits() + 1
        })
    }

    #[test]
    fn the_edges_of_every_integer_type() {
        for &dtype in DType::ALL {
            let Some((low, high)) = limits(dtype) else {
                assert!(check(&Source::F64(&[f64::NAN, 1e300]), dtype).is_ok());
                continue;
            };
            for x in [low - 1, low, 0, high, high + 1] {
                let inside = low <= x && x <= high;
                if let Ok(x) = i64::try_from(x) {
                    let inside = inside || dtype == DType::U64;
                    assert_eq!(
                        check(&Source::I64(&[x]), dtype).is_ok(),
                        inside,
                        "{dtype} {x}"
                    );
                }
                if let Ok(x) = i32::try_from(x) {
                    assert_eq!(
                        check(&Source::I32(&[x]), dtype).is_ok(),
                        inside,
                        "{dtype} {x}"
                    );
                }
            }
            // Doubles lose their fraction only: the first ones that do not become `low` and `high`.
            let above = (high + 1) as f64;
            let below = if dtype.size() == 8 && low < 0 {
                down(low as f64)
            } else {
                (low - 1) as f64
            };
            for (x, inside) in [
                (down(above), true),
                (above, false),
                (below, false),
                (low as f64, true),
                (f64::NAN, false),
                (f64::NEG_INFINITY, false),
            ] {
                assert_eq!(
                    check(&Source::F64(&[x]), dtype).is_ok(),
                    inside,
                    "{dtype} {x}"
                );
            }
        }
        assert!(check(&Source::F64(&[-0.9]), DType::U8).is_ok());
        assert!(check(&Source::U8(&[127, 128]), DType::I8).is_err());
        assert!(check(&Source::Bytes(&[255]), DType::I8).is_ok());
    }

    #[test]
    fn the_first_one_is_named() {
        let mut x = vec![1i64; 3 * STRIDE];
        assert!(check(&Source::I64(&x), DType::I32).is_ok());
        x[2 * STRIDE + 1] = 1 << 40;
        x[3 * STRIDE - 1] = 1 << 41;
        let error = check(&Source::I64(&x), DType::I32).unwrap_err();
        assert_eq!(
            error.message(),
            "`data` holds numbers that dtype i32 cannot: element 2050 is 1099511627776, \
             and i32 goes from -2147483648 to 2147483647"
        );
    }
}
