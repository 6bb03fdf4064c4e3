//! How one number is written: the notation is chosen for a whole slice, the text made per value.

/// One element, widened so that a single formatter serves every dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// Every integer type and `pred` (0 or 1).
    Int(i128),
    /// `f16`, `bf16`, `f32`, `f64`.
    Real(f64),
    /// `c64`, `c128`.
    Complex(f64, f64),
}

impl Value {
    /// The floating-point parts that decide on the notation; integers have none.
    pub(super) fn parts(self) -> impl Iterator<Item = f64> {
        let (re, im) = match self {
            Value::Int(_) => (None, None),
            Value::Real(v) => (Some(v), None),
            Value::Complex(re, im) => (Some(re), Some(im)),
        };
        re.into_iter().chain(im)
    }
}

/// The notation of all floating-point values of one slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Notation {
    /// All finite values are whole: no decimals.
    Whole,
    /// Four decimals.
    Fixed,
    /// `d.dddde±dd`.
    Scientific,
    /// Four decimals of `value / 10^exponent`; the slice is headed by the factor.
    Scaled(i32),
}

/// Whole numbers with more digits than this are written in scientific notation.
const WHOLE_LIMIT: f64 = 1e6;

impl Notation {
    /// Chooses for a slice that holds `count` elements with the floating-point parts `parts`.
    pub(super) fn choose(count: usize, parts: impl Iterator<Item = f64>) -> Self {
        let mut whole = true;
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in parts.filter(|v| v.is_finite()) {
            whole &= value == value.floor();
            if value != 0.0 {
                least = least.min(value.abs());
                most = most.max(value.abs());
            }
        }
        if whole {
            return Notation::Whole;
        }
        if least > 1e-4 && most < 1e6 {
            return Notation::Fixed;
        }
        let exponent = |v: f64| v.log10().floor() as i32;
        let (low, high) = (exponent(least), exponent(most));
        // A power of ten below the normal range is too coarse to divide by.
        let exact_enough = low > f64::MIN_10_EXP;
        if count > 1 && low == high && low != 0 && exact_enough {
            Notation::Scaled(low)
        } else {
            Notation::Scientific
        }
    }

    /// The line that heads a scaled slice.
    pub(super) fn prefix(self) -> Option<String> {
        match self {
            Notation::Scaled(e) => Some(format!("1e{}{:02} *", sign(e), e.unsigned_abs())),
            _ => None,
        }
    }

    /// The text of one value.
    pub(super) fn write(self, value: Value) -> String {
        match value {
            Value::Int(v) => whole(v as f64, || v.to_string()),
            Value::Real(v) => self.real(v),
            Value::Complex(re, im) => {
                let im = self.real(im);
                let plus = if im.starts_with('-') { "" } else { "+" };
                format!("{}{plus}{im}i", self.real(re))
            }
        }
    }

    fn real(self, v: f64) -> String {
        if v.is_nan() {
            return "nan".to_owned();
        }
        if v.is_infinite() {
            return if v > 0.0 { "inf" } else { "-inf" }.to_owned();
        }
        match self {
            // `+ 0.0` drops the sign of a negative zero.
            Notation::Whole => whole(v, || format!("{:.0}", v + 0.0)),
            Notation::Fixed => format!("{v:.4}"),
            Notation::Scientific => scientific(v),
            Notation::Scaled(e) => format!("{:.4}", v / 10.0_f64.powi(e)),
        }
    }
}

fn whole(v: f64, plain: impl FnOnce() -> String) -> String {
    if v.abs() < WHOLE_LIMIT {
        plain()
    } else {
        scientific(v)
    }
}

/// Four decimals and an exponent of at least two digits with its sign, as C's `%.4e`.
fn scientific(v: f64) -> String {
    let text = format!("{v:.4e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let e: i32 = exponent.parse().unwrap_or(0);
            format!("{mantissa}e{}{:02}", sign(e), e.unsigned_abs())
        }
        None => text,
    }
}

fn sign(exponent: i32) -> char {
    if exponent < 0 {
        '-'
    } else {
        '+'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(values: &[f64]) -> Notation {
        Notation::choose(values.len(), values.iter().copied())
    }

    #[test]
    fn the_notation_follows_the_range_of_the_slice() {
        assert_eq!(choose(&[1.0, -2.0, f64::NAN]), Notation::Whole);
        assert_eq!(choose(&[]), Notation::Whole);
        assert_eq!(choose(&[0.5, 1e5]), Notation::Fixed);
        assert_eq!(choose(&[0.5, 1e6]), Notation::Scientific);
        assert_eq!(choose(&[1e-4, 0.5]), Notation::Scientific);
        assert_eq!(choose(&[1e-10]), Notation::Scientific);
        assert_eq!(choose(&[1.5e-7, 2.5e-7, 0.0]), Notation::Scaled(-7));
        assert_eq!(choose(&[1.0e-310, 1.5e-310]), Notation::Scientific);
    }

    #[test]
    fn numbers_look_as_in_c() {
        let sci = |v| Notation::Scientific.write(Value::Real(v));
        assert_eq!(sci(1e10), "1.0000e+10");
        assert_eq!(sci(-1.23456e-7), "-1.2346e-07");
        assert_eq!(sci(1e-310), "1.0000e-310");
        assert_eq!(sci(0.0), "0.0000e+00");
        assert_eq!(sci(f64::NAN), "nan");
        assert_eq!(sci(-f64::NAN), "nan");
        assert_eq!(sci(f64::NEG_INFINITY), "-inf");
        assert_eq!(Notation::Fixed.write(Value::Real(-10.1213)), "-10.1213");
        assert_eq!(Notation::Whole.write(Value::Real(-0.0)), "0");
        assert_eq!(Notation::Whole.write(Value::Real(1e20)), "1.0000e+20");
        assert_eq!(Notation::Scaled(-7).write(Value::Real(1.5e-7)), "1.5000");
        assert_eq!(Notation::Scaled(-7).prefix().as_deref(), Some("1e-07 *"));
        assert_eq!(Notation::Scaled(10).prefix().as_deref(), Some("1e+10 *"));
    }

    #[test]
    fn whole_numbers_keep_six_digits() {
        let int = |v| Notation::Whole.write(Value::Int(v));
        assert_eq!(int(-123_456), "-123456");
        assert_eq!(int(999_999), "999999");
        assert_eq!(int(1_000_000), "1.0000e+06");
        assert_eq!(int(-1_234_567), "-1.2346e+06");
        assert_eq!(int(u64::MAX.into()), "1.8447e+19");
        assert_eq!(int(i64::MIN.into()), "-9.2234e+18");
    }

    #[test]
    fn complex_numbers_are_written_with_both_signs() {
        let fixed = |re, im| Notation::Fixed.write(Value::Complex(re, im));
        assert_eq!(fixed(1.0, 2.5), "1.0000+2.5000i");
        assert_eq!(fixed(-1.0, -2.5), "-1.0000-2.5000i");
        assert_eq!(fixed(f64::NAN, f64::INFINITY), "nan+infi");
    }
}
