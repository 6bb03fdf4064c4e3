//! The regularised incomplete gamma function: `P(a, x)`, the distribution function of the gamma distribution with
//! shape `a`, and `Q = 1 - P`.
//!
//! The smaller one is computed, to full relative accuracy and with its logarithm. Where `a >= 20` and `x` is within 40%
//! of `a`: Temme's uniform expansion (N. M. Temme, "The asymptotic expansion of the incomplete gamma functions", SIAM J.
//! Math. Anal. 10 (1979), 757-766; DLMF 8.12). Else for `x <= a` the series DLMF 8.7.1 of `P`; for `x > a` the continued fraction
//! DLMF 8.9.2 of `Q` by Lentz's method; for `a < 1` and small `x` the series DLMF 8.7.3, from which `Q` follows without
//! cancellation. Derivatives in `a` are those of these algorithms, term by term.

use crate::coefficients::TEMME;
use crate::erf::{ndtri_exp, scaled_erfc};
use crate::gamma::{lgamma_1p, stirling_rest, LN_SQRT_TAU, SQRT_TAU};
use crate::number::Number;
use crate::series::{ln_1p_curve, ln_less, polynomial};
use crate::tail::Tail;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// Where a series or a fraction ends, relative to its value.
const EPS: f64 = 1e-16;
/// Far more terms than any needs; beyond, the result would be NaN.
const MOST: u32 = 100_000;

/// Both tails at `x`.
pub(crate) fn tail<T: Number>(a: T, x: f64) -> Tail<T> {
    let shape = a.value();
    if shape.is_nan() || x.is_nan() || shape < 0.0 {
        let nan = T::constant(f64::NAN);
        return Tail {
            is_lower: true,
            log: nan,
            factor: nan,
        };
    }
    if x <= 0.0 || shape == f64::INFINITY {
        return Tail::certain(true, false);
    }
    if x == f64::INFINITY || shape == 0.0 {
        return Tail::certain(true, true);
    }
    if shape < 1.0 && x < 1.1 {
        return near_zero(a, x);
    }
    if shape >= 20.0 && (x - shape).abs() <= 0.4 * shape {
        return temme(a, x);
    }
    let log = log_power(a, x);
    let is_lower = x <= shape;
    let factor = if is_lower {
        series(a, x)
    } else {
        a * fraction(a, x)
    };
    Tail {
        is_lower,
        log,
        factor,
    }
}

/// `ln(xᵃ e^-x / Γ(a + 1))`. For larger `a` the parts that cancel are left out.
fn log_power<T: Number>(a: T, x: f64) -> T {
    if a.value() < 1.0 {
        return a * x.ln() - x - lgamma_1p(a);
    }
    let off = (-a + x) / a;
    a * ln_less(a.recip() * x, off) - a.ln() * 0.5 - LN_SQRT_TAU - stirling_rest(a)
}

/// The sum of `xᵏ / ((a + 1) ... (a + k))`.
fn series<T: Number>(a: T, x: f64) -> T {
    let (mut term, mut sum) = (T::constant(1.0), T::constant(1.0));
    for k in 1..MOST {
        term = term * x / (a + f64::from(k));
        sum = sum + term;
        if term.is_negligible(sum, EPS) {
            return sum;
        }
    }
    T::constant(f64::NAN)
}

/// `1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...))`. Beyond 1e16 the first term is all of it. There `b + 2`
/// is `b`, and its rounded product with `1 / b`, where it is not 1, would change the value at each further term.
fn fraction<T: Number>(a: T, x: f64) -> T {
    let mut b = -a + (x + 1.0);
    let mut c = T::constant(1e300);
    let mut d = b.recip();
    let mut h = d;
    if x > 1e16 {
        return h;
    }
    for k in 1..MOST {
        let k = f64::from(k);
        let numerator = (a - k) * k;
        b = b + 2.0;
        d = (numerator * d + b).recip();
        c = b + numerator / c;
        let next = h * (c * d);
        if (next - h).is_negligible(next, EPS) {
            return next;
        }
        h = next;
    }
    T::constant(f64::NAN)
}

/// `a < 1`, x about 1 at most: `P Γ(a + 1) / xᵃ = 1 + a Σ (-x)ᵏ / (k! (a + k))`.
fn near_zero<T: Number>(a: T, x: f64) -> Tail<T> {
    let mut power = -x;
    let mut sum = T::constant(0.0);
    for k in 1..MOST {
        let k = f64::from(k);
        let term = (a + k).recip() * power;
        sum = sum + term;
        if term.is_negligible(sum, EPS) {
            break;
        }
        power *= -x / (k + 1.0);
    }
    let less = a * sum;
    let log = a * x.ln() - lgamma_1p(a);
    smaller_of_power(log, less)
}

/// Of a lower tail `exp(log) (1 + less)`, where both are small if it is near 1.
pub(crate) fn smaller_of_power<T: Number>(log: T, less: T) -> Tail<T> {
    if log.value() + less.value().ln_1p() < -LN_2 {
        return Tail {
            is_lower: true,
            log,
            factor: less + 1.0,
        };
    }
    Tail {
        is_lower: false,
        log: T::constant(0.0),
        factor: -(log.exp_m1() + log.exp() * less),
    }
}

fn temme<T: Number>(a: T, x: f64) -> Tail<T> {
    let off = (-a + x) / a;
    let curve = -ln_1p_curve(off) * 2.0;
    // η² / 2 = μ - ln(1 + μ)
    let eta = off * curve.sqrt();
    let exponent = a * off * off * curve * 0.5;
    let inverse = a.recip();
    let rows = TEMME.iter().rev();
    let sum = rows.fold(T::constant(0.0), |sum, row| {
        sum * inverse + polynomial(eta, row)
    });
    let rest = sum / (a.sqrt() * SQRT_TAU);
    let is_lower = off.value() < 0.0;
    let distance = eta * a.sqrt() * FRAC_1_SQRT_2;
    let factor = if is_lower {
        scaled_erfc(-distance) * 0.5 - rest
    } else {
        scaled_erfc(distance) * 0.5 + rest
    };
    Tail {
        is_lower,
        log: -exponent,
        factor,
    }
}

/// `ln(x^(a - 1) e^-x / Γ(a))`, the logarithm of the density, which keeps its digits for large `a`. At 0 it is that
/// of the limit.
#[must_use]
pub fn log_gamma_density(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a < 0.0 {
        return f64::NAN;
    }
    if x < 0.0 || x == f64::INFINITY || a == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    if x == 0.0 {
        return match a {
            1.0 => 0.0,
            a if a < 1.0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        };
    }
    if a == 0.0 {
        return f64::NEG_INFINITY;
    }
    log_power(a, x) + (a / x).ln()
}

/// Where the smaller tail has this logarithm, which is at most `ln(1/2)`.
pub(crate) fn quantile(a: f64, log_tail: f64, is_lower: bool) -> f64 {
    if a.is_nan() || a < 0.0 {
        return f64::NAN;
    }
    let at_end = log_tail == f64::NEG_INFINITY;
    if a == 0.0 || at_end && is_lower {
        return 0.0;
    }
    if at_end || a == f64::INFINITY {
        return f64::INFINITY;
    }
    let mut x = start(a, log_tail, is_lower);
    for _ in 0..100 {
        if x == 0.0 {
            return x;
        }
        let here = tail(a, x).log_of(is_lower);
        let off = here - log_tail;
        // In ln x both logarithms are concave, so Newton's steps come from one side.
        let slope = (log_power(a, x) + a.ln() - here).exp();
        let step = if is_lower { -off / slope } else { off / slope };
        let step = if step.is_nan() {
            1.0
        } else {
            step.clamp(-1e4, 1.5)
        };
        x *= step.exp();
        if step.abs() < 1e-8 / (1.0 + a.sqrt()) {
            break;
        }
    }
    x
}

/// Wilson and Hilferty's cube of a normal variate, or the first term of the series.
fn start(a: f64, log_tail: f64, is_lower: bool) -> f64 {
    let log_p = if is_lower {
        log_tail
    } else {
        (-log_tail.exp()).ln_1p()
    };
    let first = ((log_p + lgamma_1p(a)) / a).exp();
    if a < 1.0 {
        return if is_lower {
            first
        } else {
            first.max(a.ln() - log_tail)
        };
    }
    let z = ndtri_exp(log_tail);
    let z = if is_lower { z } else { -z };
    let root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * a.sqrt());
    if root > 0.3 || !is_lower {
        a * root * root * root
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::number::Dual;

    #[test]
    fn the_fraction_ends_at_every_large_x() {
        for shape in [0.5, 10.0, 1e4, 1e8, 1e13] {
            for k in 0..2000 {
                let x = 1e15 * 1.05_f64.powi(k).min(1e270);
                let found = tail(Dual::variable(shape), x);
                assert_eq!(found.of(true).value, 1.0, "shape {shape}, x {x}");
                assert_eq!(found.of(false).value, 0.0, "shape {shape}, x {x}");
                let log = found.log_of(false);
                near(
                    1e-12,
                    log.value,
                    log_gamma_density(shape, x) - (-shape / x).ln_1p(),
                );
                assert!(log.slope.is_finite(), "shape {shape}, x {x}");
            }
        }
    }
}
