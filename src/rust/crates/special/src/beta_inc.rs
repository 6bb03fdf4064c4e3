//! The regularised incomplete beta function `I_x(a, b)`, the distribution function of the beta distribution.
//!
//! The smaller tail is computed, to full relative accuracy and with its logarithm: by the continued fraction DLMF 8.17.22
//! below the mean (its mirror image above), by the power series DLMF 8.17.7 where `b x` is small, with the complement
//! without cancellation for `a < 1`, and by a uniform expansion near the mean of large parameters (`beta_mean`). The power in front is that of A. R. DiDonato and A. H. Morris, "Algorithm 708", ACM
//! Trans. Math. Softw. 18 (1992), 360-373, whose large parts cancel on paper. Derivatives in `a` and `b` are those of these
//! algorithms, term by term.

use crate::beta::ln_beta;
use crate::beta_mean;
use crate::erf::ndtri_exp;
use crate::gamma::{lgamma_1p, lgamma_step, stirling_rest, LN_SQRT_TAU};
use crate::gamma_inc::smaller_of_power;
use crate::number::Number;
use crate::series::ln_less;
use crate::tail::Tail;

const EPS: f64 = 1e-16;
/// The same of a fraction whose terms no longer change: the rounded product of a number and its inverse, where it is not
/// 1, would change the value at each of them.
const EPS_OF_LARGE: f64 = 2e-15;
/// Ten times what any needs; beyond, the result is NaN.
const MOST: u32 = 5_000;

/// Both tails at `x`; `y = 1 - x`, of which the smaller one is exact.
pub(crate) fn tail<T: Number>(a: T, b: T, x: f64, y: f64) -> Tail<T> {
    let (p, q) = (a.value(), b.value());
    if p.is_nan() || q.is_nan() || x.is_nan() || p < 0.0 || q < 0.0 {
        let nan = T::constant(f64::NAN);
        return Tail {
            is_lower: true,
            log: nan,
            factor: nan,
        };
    }
    if x <= 0.0 || y <= 0.0 {
        return Tail::certain(true, y <= 0.0);
    }
    if p == 0.0 || q == 0.0 || p.is_infinite() || q.is_infinite() {
        return of_points(p, q, x);
    }
    if x <= 0.7 && q * x <= 0.7 && (p < 1.0 || x * (p + q) <= p) {
        return near_zero(a, b, x, y);
    }
    if y <= 0.7 && p * y <= 0.7 && (q < 1.0 || y * (p + q) <= q) {
        return near_zero(b, a, y, x).swapped();
    }
    let excess = T::excess(a, b, x, y);
    if beta_mean::holds(p, q, excess.value()) {
        return beta_mean::tail(a, b, excess);
    }
    if excess.value() <= 0.0 {
        below_mean(a, b, x, y)
    } else {
        below_mean(b, a, y, x).swapped()
    }
}

/// What is left in the limits: all at 0, all at 1, or half at each; both parameters infinite: all at 1/2.
fn of_points<T: Number>(p: f64, q: f64, x: f64) -> Tail<T> {
    if p == 0.0 && q == 0.0 {
        return Tail {
            is_lower: true,
            log: T::constant(0.0),
            factor: T::constant(0.5),
        };
    }
    let at_zero = p == 0.0 || q.is_infinite() && p.is_finite();
    let at_one = q == 0.0 || p.is_infinite() && q.is_finite();
    Tail::certain(true, at_zero || !at_one && x >= 0.5)
}

/// `ln(xᵃ yᵇ / (a B(a, b)))`
fn log_power<T: Number>(a: T, b: T, x: f64, y: f64) -> T {
    if a.value() < 1.0 || b.value() < 1.0 {
        return a * ln_of(x, y) + b * ln_of(y, x) - ln_a_beta(a, b);
    }
    let excess = T::excess(a, b, x, y);
    let sum = a + b;
    let rest = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b);
    let first = ln_less(sum * x / a, excess / a);
    let second = ln_less(sum * y / b, -excess / b);
    a * first + b * second + (b / sum / a).ln() * 0.5 - LN_SQRT_TAU + rest
}

/// `ln(a B(a, b))`, small with `a`.
fn ln_a_beta<T: Number>(a: T, b: T) -> T {
    if a.value() <= b.value() {
        if a.value() >= 10.0 {
            return ln_beta(a, b) + a.ln();
        }
        return lgamma_1p(a) - lgamma_step(b, a);
    }
    if b.value() >= 10.0 {
        return ln_beta(b, a) + a.ln();
    }
    lgamma_1p(b) - lgamma_step(a, b) + (a / b).ln()
}

/// `ln x` where `1 - x` is given too.
fn ln_of(x: f64, y: f64) -> f64 {
    if x <= 0.5 {
        x.ln()
    } else {
        (-y).ln_1p()
    }
}

/// `I_x(a, b) a B(a, b) / xᵃ = 1 + a Σ (1 - b)ₙ xⁿ / (n! (a + n))`
fn near_zero<T: Number>(a: T, b: T, x: f64, y: f64) -> Tail<T> {
    let mut term = T::constant(1.0);
    let mut sum = T::constant(0.0);
    for n in 1..MOST {
        let n = f64::from(n);
        term = term * (-b + n) * (x / n);
        let part = term / (a + n);
        sum = sum + part;
        if part.is_negligible(sum, EPS) {
            break;
        }
    }
    let log = if a.value() < 1.0 || b.value() < 1.0 {
        a * ln_of(x, y) - ln_a_beta(a, b)
    } else {
        log_power(a, b, x, y) - b * ln_of(y, x)
    };
    let less = a * sum;
    if a.value() < 1.0 {
        return smaller_of_power(log, less);
    }
    Tail {
        is_lower: true,
        log,
        factor: less + 1.0,
    }
}

/// The even part of the continued fraction, whose terms are positive up to the `b`-th, by Lentz's method. With `excess` in
/// place of `x (a + b) - a` nothing cancels near the mean.
fn below_mean<T: Number>(a: T, b: T, x: f64, y: f64) -> Tail<T> {
    let excess = T::excess(a, b, x, y);
    let denominator = |m: f64| {
        let at = a + 2.0 * m;
        let first = if m == 0.0 {
            T::constant(0.0)
        } else {
            (b - m) * (m * x) / (at - 1.0)
        };
        first + m + (a + m) / (at + 1.0) * (-excess + (1.0 + m * (1.0 + y)))
    };
    let mut h = denominator(0.0);
    let mut c = h;
    let mut d = T::constant(0.0);
    let mut factor = T::constant(f64::NAN);
    let is_large = a.value() + b.value() > 1e15;
    let eps = if is_large { EPS_OF_LARGE } else { EPS };
    for m in 1..MOST {
        let m = f64::from(m);
        let middle = a + (2.0 * m - 1.0);
        let numerator =
            (a + (m - 1.0)) / middle * ((a + b + (m - 1.0)) * x / middle) * ((b - m) * (m * x));
        let add = denominator(m);
        d = (numerator * d + add).recip();
        c = add + numerator / c;
        let next = h * (c * d);
        if (next - h).is_negligible(next, eps) {
            factor = a / next;
            break;
        }
        if next.value().is_nan() {
            break;
        }
        h = next;
    }
    Tail {
        is_lower: true,
        log: log_power(a, b, x, y),
        factor,
    }
}

/// `ln(x^(a - 1) (1 - x)^(b - 1) / B(a, b))`, the logarithm of the density, which keeps its digits for large `a` and `b`.
/// At 0 and 1 it is that of the limit.
#[must_use]
pub fn log_beta_density(a: f64, b: f64, x: f64) -> f64 {
    if a.is_nan() || b.is_nan() || x.is_nan() || a < 0.0 || b < 0.0 {
        return f64::NAN;
    }
    if !(0.0..=1.0).contains(&x) {
        return f64::NEG_INFINITY;
    }
    if a == 0.0 || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        let (here, other) = if x == 0.0 { (a, b) } else { (b, a) };
        return match here {
            1.0 => other.ln(),
            here if here < 1.0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        };
    }
    let y = 1.0 - x;
    log_power(a, b, x, y) + a.ln() - ln_of(x, y) - ln_of(y, x)
}

/// Where the smaller tail has this logarithm, which is at most `ln(1/2)`.
pub(crate) fn quantile(a: f64, b: f64, log_tail: f64, is_lower: bool) -> f64 {
    if a.is_nan() || b.is_nan() || a < 0.0 || b < 0.0 {
        return f64::NAN;
    }
    if a == 0.0 || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return f64::NAN;
    }
    if is_lower {
        lower_quantile(a, b, log_tail).0
    } else {
        lower_quantile(b, a, log_tail).1
    }
}

/// `x` and `1 - x`.
fn lower_quantile(a: f64, b: f64, log_tail: f64) -> (f64, f64) {
    // Odds may be infinite: a distribution of small parameters has nearly all of it beside 0 and 1.
    let parts = |odds: f64| {
        let y = 1.0 / (1.0 + odds);
        (
            if odds > 1.0 {
                1.0 - y
            } else {
                odds / (1.0 + odds)
            },
            y,
        )
    };
    if log_tail == f64::NEG_INFINITY {
        return (0.0, 1.0);
    }
    let mut odds = start(a, b, log_tail);
    for _ in 0..100 {
        let (x, y) = parts(odds);
        if x == 0.0 || y == 0.0 {
            break;
        }
        let here = tail(a, b, x, y).log_of(true);
        if here.is_nan() {
            return (here, here);
        }
        // In ln(x / y) the logarithm is concave, so Newton's steps come from below.
        let slope = (log_power(a, b, x, y) + a.ln() - here).exp();
        let step = (log_tail - here) / slope;
        let least = -5.0 - 5.0 / a;
        let step = if step.is_nan() {
            least
        } else {
            step.max(least)
        };
        odds *= step.exp();
        if step.abs() < 1e-8 / (1.0 + a.sqrt() + b.sqrt()) {
            break;
        }
    }
    parts(odds)
}

/// The odds `x / (1 - x)` to start from: a normal approximation, Abramowitz and Stegun 26.5.22, or the first term of the
/// series.
fn start(a: f64, b: f64, log_tail: f64) -> f64 {
    if a > 1.0 && b > 1.0 {
        let z = -ndtri_exp(log_tail);
        let (r, s) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
        let lambda = (z * z - 3.0) / 6.0;
        let h = 2.0 / (r + s);
        if h + lambda > 0.0 {
            let w = z * (h + lambda).sqrt() / h - (s - r) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
            let odds = a / b * (-2.0 * w).exp();
            if odds > 0.0 {
                return odds;
            }
        }
    }
    let x = ((log_tail + ln_a_beta(a, b)) / a).exp();
    if x < 0.5 {
        x / (1.0 - x)
    } else {
        a / b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Dual;

    #[test]
    fn a_quantile_beside_an_end_is_there() {
        for (a, b) in [(0.005, 5e-11), (5e-6, 5e-11), (500.0, 5e-11), (5e9, 5e-11)] {
            for log_tail in [0.3_f64.ln(), 0.5_f64.ln()] {
                // Next to nothing is below 1.
                assert_eq!(quantile(a, b, log_tail, true), 1.0, "{a} {b}");
                assert_eq!(quantile(b, a, log_tail, false), 0.0, "{a} {b}");
            }
        }
        assert_eq!(quantile(1e-3, 2.0, -1e4, true), 0.0);
        assert_eq!(quantile(2.0, 1e-3, -1e4, false), 1.0);
    }

    #[test]
    fn the_fraction_ends_for_every_large_parameter() {
        let parameters: Vec<f64> = (0..50).map(|k| 10_f64.powi(k - 8) * 1.3).collect();
        for &a in &parameters {
            for &b in &parameters {
                for x in [1e-20, 1e-8, 0.01, 0.5, 0.9, 1.0 - 1e-10] {
                    let found = tail(Dual::variable(a), Dual::constant(b), x, 1.0 - x);
                    let lower = found.of(true);
                    assert!((0.0..=1.0).contains(&lower.value), "{a} {b} {x}");
                    assert!(lower.slope.is_finite(), "{a} {b} {x}");
                }
            }
        }
    }
}
