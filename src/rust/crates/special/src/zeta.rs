//! The polygamma functions, and Hurwitz's zeta function of which they are made:
//! `ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)`, DLMF 5.15 and 25.11.

use crate::coefficients::{DIGAMMA, DIGAMMA_ROOT};
#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::gamma::{gamma, lgamma};
use crate::series::{chebyshev, polynomial};
use std::f64::consts::PI;

/// `B₂ₖ / (2k)!`
const BERNOULLI: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3.389_680_296_322_583e-13,
    8.586_062_056_277_845e-15,
    -2.174_868_698_558_062e-16,
    5.509_002_828_360_229_5e-18,
    -1.395_446_468_581_252_3e-19,
];

/// `ζ(s, q)`, the sum of `(q + k)^-s`, for `s > 1`, `q > 0`: Euler and Maclaurin's formula, DLMF
/// 25.11.28. Infinite at `s = 1`; NaN where `s < 1` or `q < 0`.
#[must_use]
pub fn zeta(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || s < 1.0 || q < 0.0 {
        return f64::NAN;
    }
    if s == 1.0 || q == 0.0 {
        return f64::INFINITY;
    }
    if q == f64::INFINITY || s == f64::INFINITY {
        return match (q < 1.0, q == 1.0) {
            (true, _) => f64::INFINITY,
            (_, true) => 1.0,
            _ => 0.0,
        };
    }
    zeta_in(1.0, s, q)
}

/// `unit^s ζ(s, q)` for finite `s > 1`, `q > 0`: with `q` as the unit it does not underflow.
fn zeta_in(unit: f64, s: f64, q: f64) -> f64 {
    // Large s asks for larger q before the terms behind shrink.
    let enough = 10.0 + 0.5 * s;
    let (mut sum, mut at) = (0.0, q);
    while at < enough {
        let term = inverse_power(at / unit, s);
        sum += term;
        if term <= 1e-18 * sum || at + 1.0 == at {
            return sum;
        }
        at += 1.0;
    }
    let above = inverse_power(at / unit, s - 1.0) * unit;
    let power = above / at;
    let mut factor = s * power / at;
    let mut tail = power * 0.5 + above / (s - 1.0);
    for (k, b) in BERNOULLI.iter().enumerate() {
        let term = factor * b;
        tail += term;
        if term.abs() < 1e-18 * tail {
            break;
        }
        let k = 2.0 * k as f64;
        factor *= (s + k + 1.0) * (s + k + 2.0) / (at * at);
    }
    sum + tail
}

/// `x^-s`; small whole powers without logarithms.
fn inverse_power(x: f64, s: f64) -> f64 {
    match s {
        1.0 => 1.0 / x,
        2.0 => 1.0 / (x * x),
        3.0 => 1.0 / (x * x * x),
        _ => libm::pow(x, -s),
    }
}

/// `ψ(x)`, the derivative of `ln Γ(x)`; NaN at 0 and at negative integers. Relative accuracy is full for
/// `x > 0`, its root included.
#[must_use]
pub fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        return positive_digamma(1.0 - x) - PI / tan_pi(x);
    }
    positive_digamma(x)
}

/// For `x > 0`.
fn positive_digamma(x: f64) -> f64 {
    // -B₂ₖ / 2k: DLMF 5.11.2
    const SERIES: [f64; 8] = [
        -1.0 / 12.0,
        1.0 / 120.0,
        -1.0 / 252.0,
        1.0 / 240.0,
        -1.0 / 132.0,
        691.0 / 32_760.0,
        -1.0 / 12.0,
        3617.0 / 8160.0,
    ];
    if x >= 10.0 {
        let inverse = 1.0 / x;
        let square = inverse * inverse;
        return x.ln() - 0.5 * inverse + square * polynomial(square, &SERIES);
    }
    if x < 1.0 {
        return middle_digamma(x + 1.0) - 1.0 / x;
    }
    middle_digamma(x)
}

/// For x from 1 to 10.
fn middle_digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x > 2.0 {
        x -= 1.0;
        sum += 1.0 / x;
    }
    let from_root = (x - DIGAMMA_ROOT[0]) - DIGAMMA_ROOT[1];
    sum + from_root * chebyshev(2.0 * x - 3.0, &DIGAMMA)
}

/// `ψ′(x)`; infinite at 0 and at negative integers.
#[must_use]
pub fn trigamma(x: f64) -> f64 {
    polygamma(1.0, x)
}

/// `ψ⁽ⁿ⁾(x)` for whole `n >= 0`; NaN for other `n`. At 0 and negative integers infinite for odd `n`, NaN
/// for even.
#[must_use]
pub fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if x.is_nan() || n.is_nan() || n < 0.0 || n != n.floor() || n == f64::INFINITY {
        return f64::NAN;
    }
    let odd = n % 2.0 == 1.0;
    let sign = if odd { 1.0 } else { -1.0 };
    if x > 0.0 {
        return sign * scaled_zeta(n, x);
    }
    if x == x.floor() {
        return if odd { f64::INFINITY } else { f64::NAN };
    }
    if x > -30.0 {
        // Each term of the sum, of its own sign
        let (mut sum, mut at) = (0.0, x);
        while at < 0.0 {
            sum += factorial_over_power(n, at);
            at += 1.0;
        }
        return sign * (sum + scaled_zeta(n, at));
    }
    // ψ⁽ⁿ⁾(1 - x) + (-1)ⁿ⁺¹ ψ⁽ⁿ⁾(x) = (-1)ⁿ π (d/dx)ⁿ cot πx
    let reflected = -sign * cotangent_derivative(n, x) - sign * scaled_zeta(n, 1.0 - x);
    sign * reflected
}

/// `n! ζ(n + 1, x)`
fn scaled_zeta(n: f64, x: f64) -> f64 {
    let sum = zeta(n + 1.0, x);
    if x == f64::INFINITY {
        return 0.0;
    }
    if n < 150.0 && sum > 1e-280 && sum < 1e280 {
        return gamma(n + 1.0) * sum;
    }
    if x < 1.0 {
        return factorial_over_power(n, x) * (1.0 + libm::pow(x, n + 1.0) * zeta(n + 1.0, x + 1.0));
    }
    let log_sum = if sum > 1e-300 {
        sum.ln()
    } else {
        zeta_in(x, n + 1.0, x).ln() - (n + 1.0) * x.ln()
    };
    (lgamma(n + 1.0) + log_sum).exp()
}

/// `n! / x^(n + 1)`
fn factorial_over_power(n: f64, x: f64) -> f64 {
    let (mut value, mut k) = (1.0 / x, 1.0);
    while k <= n && value.is_finite() {
        value *= k / x;
        k += 1.0;
    }
    value
}

/// Up to which order the cotangent is differentiated.
const HIGHEST: usize = 100;

/// `π (d/dx)ⁿ cot πx`, a polynomial in the cotangent: `cot′ = -π (1 + cot²)`.
fn cotangent_derivative(n: f64, x: f64) -> f64 {
    let n = n as usize;
    if n > HIGHEST {
        return f64::NAN;
    }
    let mut coefficients = [0.0; HIGHEST + 2];
    coefficients[1] = PI;
    for step in 0..n {
        let mut next = [0.0; HIGHEST + 2];
        for k in 1..=step + 1 {
            let c = -PI * k as f64 * coefficients[k];
            next[k - 1] += c;
            next[k + 1] += c;
        }
        coefficients = next;
    }
    polynomial(1.0 / tan_pi(x), &coefficients[..n + 2])
}

/// `tan πx` with the digits of what is left of x when whole numbers are taken away.
fn tan_pi(x: f64) -> f64 {
    (PI * (x - x.round())).tan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;

    /// The relative error that is allowed.
    const ERROR: f64 = 4e-15;

    #[test]
    fn known_values() {
        near(ERROR, digamma(1.0), -0.577_215_664_901_532_9);
        near(ERROR, digamma(0.5), -1.963_510_026_021_423_5);
        assert!((digamma(-0.5) - 0.036_489_973_978_576_52).abs() < 4e-16);
        near(ERROR, trigamma(1.0), PI * PI / 6.0);
        near(ERROR, trigamma(-0.5), PI * PI / 2.0 + 4.0);
        near(ERROR, polygamma(2.0, 1.0), -2.404_113_806_319_188_6);
        near(ERROR, zeta(2.0, 1.0), PI * PI / 6.0);
    }

    #[test]
    fn a_small_step_of_lgamma_is_a_derivative() {
        for b in [0.01, 0.7, 3.0, 9.9, 25.0] {
            let small = crate::gamma::lgamma_step(b, 1e-12) / 1e-12;
            assert!((small / digamma(b) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn both_ways_of_reflecting_agree() {
        for n in 1..8 {
            let n = f64::from(n);
            let cot = |x: f64| {
                let sign = if n % 2.0 == 1.0 { 1.0 } else { -1.0 };
                sign * (-sign * cotangent_derivative(n, x) - polygamma(n, 1.0 - x))
            };
            for x in [-0.3, -1.7, -8.45] {
                assert!((cot(x) / polygamma(n, x) - 1.0).abs() < 1e-12, "{n} {x}");
            }
        }
    }

    #[test]
    fn sums_that_underflow_beside_factorials_that_overflow() {
        assert_eq!(polygamma(1e6, 1e3), f64::NEG_INFINITY);
        assert_eq!(polygamma(1e15, 0.5), f64::NEG_INFINITY);
        assert_eq!(polygamma(1e18, 1e17), f64::NEG_INFINITY);
        assert_eq!(polygamma(3.0, 1e200), 0.0);
        // Sums with 60 digits
        for (n, x, want) in [
            (160.0, 100.0, -5.910_461_551_069_954e-38),
            (200.0, 120.0, -1.181_835_173_275_101_4e-43),
        ] {
            assert!((polygamma(n, x) / want - 1.0).abs() < 1e-12, "{n} {x}");
        }
    }

    #[test]
    fn poles_and_infinities() {
        assert!(digamma(0.0).is_nan() && digamma(-4.0).is_nan());
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(trigamma(0.0), f64::INFINITY);
        assert_eq!(trigamma(f64::INFINITY), 0.0);
        assert_eq!(trigamma(f64::NEG_INFINITY), f64::INFINITY);
        assert!(
            polygamma(2.0, f64::NEG_INFINITY).is_nan() && polygamma(f64::INFINITY, 2.0).is_nan()
        );
        assert!(polygamma(0.5, 1.0).is_nan() && polygamma(-1.0, 1.0).is_nan());
    }
}
