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

/// `ln(1 + x) - x` without cancellation. With `r = x / (2 + x)`, `ln(1 + x) = 2 artanh r` and
/// `x - 2 r = r x`.
pub(crate) fn ln_1p_less<T: Number>(x: T) -> T {
    let at = x.value();
    if !(-0.4..0.7).contains(&at) {
        return x.ln_1p() - x;
    }
    let r = x / (x + 2.0);
    let square = r * r;
    // 2 / (2k + 3) r^(2k + 3), where |r| < 0.26
    let mut tail = T::constant(0.0);
    for k in (0..14).rev() {
        tail = tail * square + 2.0 / (2.0 * f64::from(k) + 3.0);
    }
    r * (square * tail - x)
}
