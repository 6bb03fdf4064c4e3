//! What Bessel functions of all kinds share: values at the ends, expansions, and recurrences.

#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::gamma::{gamma, lgamma, lgamma_1p_slope};
use crate::wide::{Wide, SHRINK, SHRUNK};
use std::f64::consts::PI;

pub(super) const EPS: f64 = 1e-16;
pub(super) const MOST: u32 = 2_000_000;
/// Orders and arguments up to which fractions and recurrences go, which take as many steps.
const FARTHEST: f64 = 1e6;
pub(super) const HUGE: f64 = 1e250;

/// The value at 0 of J and I, which go as `(x/2)^ν / Γ(ν + 1)`.
pub(super) fn at_zero(order: f64) -> f64 {
    if order == 0.0 {
        1.0
    } else if order > 0.0 || order == order.floor() {
        0.0
    } else if order.floor().rem_euclid(2.0) == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    }
}

/// What needs no algorithm.
pub(super) fn at_end(order: f64, x: f64, at_zero: f64, at_infinity: f64) -> Option<f64> {
    if order.is_nan() || x.is_nan() || x < 0.0 || order.is_infinite() {
        return Some(f64::NAN);
    }
    match x {
        0.0 => Some(at_zero),
        f64::INFINITY => Some(at_infinity),
        _ => None,
    }
}

/// `p a + q b`, where a factor of 0 leaves out what may be infinite.
pub(super) fn mixed(p: f64, a: f64, q: f64, b: f64) -> f64 {
    let part = |factor: f64, value: f64| if factor == 0.0 { 0.0 } else { factor * value };
    part(p, a) + part(q, b)
}

/// Sine and cosine of `π x`, exact at halves.
pub(super) fn sin_cos_pi(x: f64) -> (f64, f64) {
    let quarter = (2.0 * x).round();
    let (sin, cos) = (PI * (x - 0.5 * quarter)).sin_cos();
    match quarter.rem_euclid(4.0) {
        0.0 => (sin, cos),
        1.0 => (cos, -sin),
        2.0 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Temme's functions of `|μ| <= 1/2`: `1 / Γ(1 + μ)`, `1 / Γ(1 - μ)`, half their sum, and the half of their difference
/// over `-μ`.
pub(super) struct Gammas {
    pub(super) plus: f64,
    pub(super) minus: f64,
    pub(super) even: f64,
    pub(super) odd: f64,
}

impl Gammas {
    pub(super) fn at(mu: f64) -> Self {
        let (up, down) = (lgamma_1p_slope(mu), lgamma_1p_slope(-mu));
        let plus = (-mu * up).exp();
        let minus = (mu * down).exp();
        // Both are exp(common ± μ mean).
        let mean = 0.5 * (up + down);
        let common = (0.5 * mu * (down - up)).exp();
        Gammas {
            plus,
            minus,
            even: 0.5 * (plus + minus),
            odd: common * mean * sinh_over(mu * mean),
        }
    }
}

/// `sinh(x) / x`
pub(super) fn sinh_over(x: f64) -> f64 {
    if x.abs() < 1e-8 {
        1.0
    } else {
        x.sinh() / x
    }
}

/// `x / sin x`
pub(super) fn over_sine(x: f64) -> f64 {
    if x.abs() < 1e-8 {
        1.0
    } else {
        x / x.sin()
    }
}

/// Hankel's sum `Σ i^-k aₖ(ν) / xᵏ` in parts of even and odd k; `turn` is the sign of `i²`. None where it does not reach full
/// accuracy.
pub(super) fn hankel(order: f64, x: f64, turn: f64) -> Option<(f64, f64)> {
    if x < 25.0 || order * order > x {
        return None;
    }
    let square = 4.0 * order * order;
    let (mut even, mut odd, mut term) = (1.0, 0.0, 1.0);
    for k in 1..100 {
        let k = f64::from(k);
        let twice = 2.0 * k - 1.0;
        term *= (square - twice * twice) / (8.0 * k * x);
        if k % 2.0 == 1.0 {
            odd += term;
        } else {
            term *= turn;
            even += term;
        }
        if term.abs() < EPS {
            return Some((even, odd));
        }
    }
    None
}

/// The power series DLMF 10.2.2 and 10.25.2 of `J` (`turn` is -1) and `I` (1), for `x < 2`.
pub(super) fn series(order: f64, x: f64, turn: f64) -> f64 {
    let square = turn * 0.25 * x * x;
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..100 {
        let k = f64::from(k);
        term *= square / (k * (order + k));
        sum += term;
        if term.abs() < 0.1 * EPS {
            break;
        }
    }
    if order < 20.0 {
        return libm::pow(0.5 * x, order) / gamma(order + 1.0) * sum;
    }
    (order * (0.5 * x).ln() - lgamma(order + 1.0)).exp() * sum
}

/// Divisors of a continued fraction are kept from 0.
pub(super) fn nonzero(x: f64) -> f64 {
    if x.abs() < 1e-300 {
        1e-300
    } else {
        x
    }
}

/// Where an order is too large for the recurrences: 0 and infinity if the functions are, else no numbers. By the bound
/// `(x/2)^ν / Γ(ν + 1)` of J, which that of I exceeds by `exp(x² / 4ν)` at most.
pub(super) fn vanishing(order: f64, x: f64) -> Option<(f64, f64)> {
    if order.max(x) <= FARTHEST {
        return None;
    }
    let log = order * (0.5 * x).ln() - lgamma(order + 1.0) + 0.25 * x * x / order;
    Some(if order > x && log < -1e3 {
        (0.0, f64::INFINITY)
    } else {
        (f64::NAN, f64::NAN)
    })
}

/// A solution that was followed from the order down to μ.
pub(super) struct Down {
    first: f64,
    pub(super) value: f64,
    pub(super) slope: f64,
    exponent: i32,
}

impl Down {
    /// `turn`: -1 for J, 1 for I.
    pub(super) fn from(
        order: f64,
        x: f64,
        first: f64,
        log_slope: f64,
        steps: f64,
        turn: f64,
    ) -> Self {
        let mut value = first;
        let mut slope = log_slope * value;
        let mut exponent = 0;
        // Each for itself: errors of a running difference would add up.
        let at = |step: f64| (order - step) / x;
        let mut step = 0.0;
        while step < steps {
            let next = at(step) * value + slope;
            step += 1.0;
            slope = at(step) * next + turn * value;
            value = next;
            if value.abs() > HUGE {
                value *= SHRINK;
                slope *= SHRINK;
                exponent -= SHRUNK;
            }
        }
        Down {
            first,
            value,
            slope,
            exponent,
        }
    }

    /// The solution at the order, where it is `at_mu` at μ.
    pub(super) fn scaled(&self, at_mu: f64) -> Wide {
        Wide {
            value: self.first * (at_mu / self.value),
            exponent: self.exponent,
        }
    }
}

/// From the orders μ and μ + 1 up; `turn`: -1 for Y, 1 for K.
pub(super) fn upwards(
    mu: f64,
    x: f64,
    (mut value, mut next): (f64, f64),
    steps: f64,
    turn: f64,
) -> Wide {
    let mut step = 1.0;
    let mut exponent = 0;
    while step <= steps && value.is_finite() {
        let after = 2.0 * (mu + step) / x * next + turn * value;
        (value, next) = (next, after);
        if next.abs() > HUGE {
            value *= SHRINK;
            next *= SHRINK;
            exponent += SHRUNK;
        }
        step += 1.0;
    }
    Wide { value, exponent }
}
