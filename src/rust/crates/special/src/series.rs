//! Sums that several families need.

use crate::number::Number;

/// The polynomial whose coefficients are given from the constant on.
pub(crate) fn polynomial<T: Number>(x: T, coefficients: &[f64]) -> T {
    let sum = |sum: T, &c: &f64| sum * x + c;
    coefficients.iter().rev().fold(T::constant(0.0), sum)
}

/// The sum of Chebyshev polynomials, by Clenshaw's recurrence; `x` in [-1, 1]. The first coefficient
/// counts half.
pub(crate) fn chebyshev<T: Number>(x: T, coefficients: &[f64]) -> T {
    let twice = x * 2.0;
    let (mut b0, mut b1, mut b2) = (T::constant(0.0), T::constant(0.0), T::constant(0.0));
    for &c in coefficients.iter().rev() {
        (b2, b1) = (b1, b0);
        b0 = twice * b1 - b2 + c;
    }
    (b0 - b2) * 0.5
}

/// `(ln(1 + x) - x) / x²` without cancellation, for x from -0.4 to 0.7. With `r = x / (2 + x)`, `ln(1 + x) = 2 artanh r` and
/// `x - 2 r = r x`.
pub(crate) fn ln_1p_curve<T: Number>(x: T) -> T {
    let inverse = (x + 2.0).recip();
    let r = x * inverse;
    let square = r * r;
    // 2 / (2k + 3) r^2k, where |r| < 0.26
    let mut tail = T::constant(0.0);
    for k in (0..14).rev() {
        tail = tail * square + 2.0 / (2.0 * f64::from(k) + 3.0);
    }
    inverse * (r * inverse * tail - 1.0)
}

/// `ln r - x` where `r = 1 + x`, each with its digits.
pub(crate) fn ln_less<T: Number>(r: T, x: T) -> T {
    if (-0.4..0.7).contains(&x.value()) {
        x * x * ln_1p_curve(x)
    } else {
        r.ln() - x
    }
}
