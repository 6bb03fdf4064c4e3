//! The gamma function and its logarithm.
//!
//! `libm` has both to a few units in the last place (the relative error of the logarithm grows near its zeros at
//! negative arguments). What is here beside them keeps its digits where differences of logarithms would lose them.

use crate::coefficients::LGAMMA_1P;
use crate::number::Number;
use crate::series::{chebyshev, polynomial};

/// `ln(2π) / 2`
pub(crate) const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;

/// `√(2π)`
pub(crate) const SQRT_TAU: f64 = 2.506_628_274_631_000_7;

/// `ln |Γ(x)|`; infinite at 0, at negative integers and at both infinities.
#[must_use]
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// `Γ(x)`; NaN at 0 and at negative integers, as R has it.
#[must_use]
pub fn gamma(x: f64) -> f64 {
    if x == 0.0 || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x < 20.0 {
        return libm::tgamma(x);
    }
    if x > 172.0 {
        return f64::INFINITY;
    }
    // Stirling's formula, with half of the power, which does not overflow before the result does
    let half = libm::pow(x, 0.5 * x - 0.25);
    half * (-x).exp() * half * (SQRT_TAU * stirling_rest(x).exp())
}

/// `ln Γ(1 + a)` with its digits near `a = 0`.
pub(crate) fn lgamma_1p<T: Number>(a: T) -> T {
    if a.value().abs() <= 0.5 {
        a * chebyshev(a * 2.0, &LGAMMA_1P)
    } else {
        (a + 1.0).lgamma()
    }
}

/// Bernoulli numbers over `2k (2k - 1)`: DLMF 5.11.1.
const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43867.0 / 244_188.0,
];

/// `ln Γ(1 + a) / a` for `|a| <= 1/2`.
pub(crate) fn lgamma_1p_slope(a: f64) -> f64 {
    chebyshev(a * 2.0, &LGAMMA_1P)
}

/// What Stirling's formula leaves out: `ln Γ(a) - (a - 1/2) ln a + a - ln(2π) / 2`, for `a > 0`.
pub(crate) fn stirling_rest<T: Number>(a: T) -> T {
    if a.value() >= 10.0 {
        let inverse = a.recip();
        return inverse * polynomial(inverse * inverse, &STIRLING);
    }
    a.lgamma() - (a - 0.5) * a.ln() + a - LN_SQRT_TAU
}

/// How much that is more at `b + a` than at `b >= 10`. Small steps: term by term, each with its digits.
fn stirling_rest_step<T: Number>(b: T, a: T) -> T {
    if a.value() > 0.01 * b.value() {
        return stirling_rest(b + a) - stirling_rest(b);
    }
    let log = -(a / b).ln_1p();
    let inverse = b.recip();
    let mut power = inverse;
    let mut sum = T::constant(0.0);
    for (k, &c) in STIRLING.iter().enumerate() {
        sum = sum + power * (log * (2.0 * k as f64 + 1.0)).exp_m1() * c;
        power = power * inverse * inverse;
    }
    sum
}

/// `ln Γ(b + a) - ln Γ(b)` for `a >= 0`, `b > 0`, to full relative accuracy also where `a` is small.
pub(crate) fn lgamma_step<T: Number>(b: T, a: T) -> T {
    let mut shift = T::constant(0.0);
    let mut b = b;
    // Γ(b + a) / Γ(b) = Γ(b + 1 + a) / Γ(b + 1) / (1 + a / b)
    while b.value() < 10.0 {
        shift = shift - (a / b).ln_1p();
        b = b + 1.0;
    }
    let sum = b + a;
    let stirling = (b - 0.5) * (a / b).ln_1p() + a * (sum.ln() - 1.0);
    shift + stirling + stirling_rest_step(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_factorials() {
        let mut factorial = 1.0;
        for n in 1..=22 {
            assert!((gamma(f64::from(n)) / factorial - 1.0).abs() < 1e-15);
            factorial *= f64::from(n);
        }
        assert_eq!(gamma(1e10), f64::INFINITY);
        assert_eq!(gamma(f64::INFINITY), f64::INFINITY);
        assert!((gamma(171.5) / 9.483_367_566_824_795e307 - 1.0).abs() < 1e-14);
        assert!(gamma(0.0).is_nan() && gamma(-3.0).is_nan() && gamma(f64::NEG_INFINITY).is_nan());
        assert_eq!(lgamma(0.0), f64::INFINITY);
        assert_eq!(lgamma(-2.0), f64::INFINITY);
    }

    #[test]
    fn steps_are_differences() {
        for b in [0.01, 0.7, 3.0, 9.9, 25.0] {
            for a in [0.3, 1.0, 7.5] {
                let difference = lgamma(a + b) - lgamma(b);
                assert!((lgamma_step(b, a) - difference).abs() < 1e-13 * difference.abs().max(1.0));
            }
        }
    }

    #[test]
    fn the_rest_is_continuous() {
        let (below, above) = (stirling_rest(9.999_999_999), stirling_rest(10.0));
        assert!((below - above).abs() < 1e-12);
        assert!((lgamma_1p(0.5) - lgamma(1.5)).abs() < 1e-15);
    }
}
