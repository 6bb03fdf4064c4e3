//! Bessel functions of real order: J and Y, and what the modified ones (`bessel_modified`) share with them.
//!
//! N. M. Temme, "On the numerical evaluation of the modified Bessel function of the third kind", J. Comput. Phys. 19
//! (1975), 324-337, and "On the numerical evaluation of the ordinary Bessel function of the second kind", ibid. 21 (1976),
//! 343-350: near 0 his series, else continued fractions (the complex one of Steed's method for J and Y, A. R. Barnett et
//! al., Comput. Phys. Commun. 8 (1974), 377-395), Wronskians, and recurrences in the direction in which they are stable. Far
//! out Hankel's asymptotic expansions, DLMF 10.17 and 10.40. Negative orders by reflection, DLMF 10.2.3, 10.27.2.

use crate::gamma::{gamma, lgamma, lgamma_1p_slope};
use crate::wide::{Wide, SHRINK, SHRUNK};
use std::f64::consts::PI;

pub(crate) const EPS: f64 = 1e-16;
pub(crate) const MOST: u32 = 2_000_000;
/// Orders and arguments up to which fractions and recurrences go, which take as many steps.
const FARTHEST: f64 = 1e6;
pub(crate) const HUGE: f64 = 1e250;

/// `J_ν(x)` for `x >= 0`.
#[must_use]
pub fn bessel_j(order: f64, x: f64) -> f64 {
    match at_end(order, x, at_zero(order), 0.0) {
        Some(value) => value,
        None if order >= 0.0 => ordinary(order, x).0,
        None => {
            let (j, y) = ordinary(-order, x);
            let (sin, cos) = sin_cos_pi(-order);
            mixed(cos, j, -sin, y)
        }
    }
}

/// `Y_ν(x)` for `x >= 0`; infinite at 0.
#[must_use]
pub fn bessel_y(order: f64, x: f64) -> f64 {
    let (_, cos) = sin_cos_pi(order.min(0.0));
    match at_end(order, x, mixed(0.0, 0.0, cos, f64::NEG_INFINITY), 0.0) {
        Some(value) => value,
        None if order >= 0.0 => ordinary(order, x).1,
        None => {
            let (j, y) = ordinary(-order, x);
            let (sin, cos) = sin_cos_pi(-order);
            mixed(sin, j, cos, y)
        }
    }
}

/// The value at 0 of J and I, which go as `(x/2)^ν / Γ(ν + 1)`.
pub(crate) fn at_zero(order: f64) -> f64 {
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
pub(crate) fn at_end(order: f64, x: f64, at_zero: f64, at_infinity: f64) -> Option<f64> {
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
pub(crate) fn mixed(p: f64, a: f64, q: f64, b: f64) -> f64 {
    let part = |factor: f64, value: f64| if factor == 0.0 { 0.0 } else { factor * value };
    part(p, a) + part(q, b)
}

/// Sine and cosine of `π x`, exact at halves.
pub(crate) fn sin_cos_pi(x: f64) -> (f64, f64) {
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
pub(crate) struct Gammas {
    pub(crate) plus: f64,
    pub(crate) minus: f64,
    pub(crate) even: f64,
    pub(crate) odd: f64,
}

impl Gammas {
    pub(crate) fn at(mu: f64) -> Self {
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
pub(crate) fn sinh_over(x: f64) -> f64 {
    if x.abs() < 1e-8 {
        1.0
    } else {
        x.sinh() / x
    }
}

/// `x / sin x`
pub(crate) fn over_sine(x: f64) -> f64 {
    if x.abs() < 1e-8 {
        1.0
    } else {
        x / x.sin()
    }
}

/// Hankel's sum `Σ i^-k aₖ(ν) / xᵏ` in parts of even and odd k; `turn` is the sign of `i²`. None where it does not reach full
/// accuracy.
pub(crate) fn hankel(order: f64, x: f64, turn: f64) -> Option<(f64, f64)> {
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
pub(crate) fn series(order: f64, x: f64, turn: f64) -> f64 {
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
        return (0.5 * x).powf(order) / gamma(order + 1.0) * sum;
    }
    (order * (0.5 * x).ln() - lgamma(order + 1.0)).exp() * sum
}

/// `J` and `Y` for `ν >= 0`, `0 < x < ∞`.
fn ordinary(order: f64, x: f64) -> (f64, f64) {
    if let Some((even, odd)) = hankel(order, x, -1.0) {
        let (shift_sin, shift_cos) = sin_cos_pi(0.5 * order + 0.25);
        let (sin, cos) = x.sin_cos();
        let cosine = cos * shift_cos + sin * shift_sin;
        let sine = sin * shift_cos - cos * shift_sin;
        let size = (2.0 / (PI * x)).sqrt();
        return (
            size * (even * cosine - odd * sine),
            size * (even * sine + odd * cosine),
        );
    }
    if let Some((j, y)) = vanishing(order, x) {
        return (j, -y);
    }
    if x < 2.0 {
        let steps = (order + 0.5).floor();
        let mu = order - steps;
        let y = upwards(mu, x, near_zero(mu, x), steps, -1.0).narrow();
        return (series(order, x, -1.0), y);
    }
    let steps = (order - x + 1.5).floor().max(0.0);
    let mu = order - steps;
    // J′ / J at the order
    let mut h = (order / x).max(1e-300);
    let (mut b, mut d, mut c, mut sign) = (2.0 * order / x, 0.0, h, 1.0);
    for _ in 0..MOST {
        b += 2.0 / x;
        d = nonzero(b - d);
        c = nonzero(b - 1.0 / c);
        d = 1.0 / d;
        let change = c * d;
        h *= change;
        if d < 0.0 {
            sign = -sign;
        }
        if (change - 1.0).abs() < EPS {
            break;
        }
    }
    let down = Down::from(order, x, sign, h, steps, -1.0);
    let slope = down.slope / down.value;
    let (p, q) = steed(mu, x);
    let gamma = (p - slope) / q;
    let size = (2.0 / (PI * x * ((p - slope) * gamma + q))).sqrt();
    let j = size.copysign(down.value);
    let y = j * gamma;
    let y_next = mu / x * y - j * (p * gamma + q);
    let y = upwards(mu, x, (y, y_next), steps, -1.0);
    (down.scaled(j).narrow(), y.narrow())
}

/// Divisors of a continued fraction are kept from 0.
fn nonzero(x: f64) -> f64 {
    if x.abs() < 1e-300 {
        1e-300
    } else {
        x
    }
}

/// Where an order is too large for the recurrences: 0 and infinity if the functions are, else no numbers. By the bound
/// `(x/2)^ν / Γ(ν + 1)` of J, which that of I exceeds by `exp(x² / 4ν)` at most.
pub(crate) fn vanishing(order: f64, x: f64) -> Option<(f64, f64)> {
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
pub(crate) struct Down {
    first: f64,
    pub(crate) value: f64,
    pub(crate) slope: f64,
    exponent: i32,
}

impl Down {
    /// `turn`: -1 for J, 1 for I.
    pub(crate) fn from(
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
    pub(crate) fn scaled(&self, at_mu: f64) -> Wide {
        Wide {
            value: self.first * (at_mu / self.value),
            exponent: self.exponent,
        }
    }
}

/// From the orders μ and μ + 1 up; `turn`: -1 for Y, 1 for K.
pub(crate) fn upwards(
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

/// `Y_μ` and `Y_{μ + 1}`: Temme's series.
fn near_zero(mu: f64, x: f64) -> (f64, f64) {
    let g = Gammas::at(mu);
    let log = (2.0 / x).ln();
    let sigma = mu * log;
    let turn = over_sine(PI * mu);
    let mut f = 2.0 / PI * turn * (g.odd * sigma.cosh() + g.even * sinh_over(sigma) * log);
    let power = sigma.exp();
    let mut p = power / (PI * g.plus);
    let mut q = 1.0 / (power * PI * g.minus);
    let half = 0.5 * PI * mu;
    let sine = 1.0 / over_sine(half);
    let r = PI * half * sine * sine;
    let (mut sum, mut sum_next) = (f + r * q, p);
    let mut c = 1.0;
    for k in 1..MOST {
        let k = f64::from(k);
        f = (k * f + p + q) / (k * k - mu * mu);
        c *= -0.25 * x * x / k;
        p /= k - mu;
        q /= k + mu;
        let part = c * (f + r * q);
        sum += part;
        sum_next += c * p - k * part;
        if part.abs() < EPS * (1.0 + sum.abs()) {
            break;
        }
    }
    (-sum, -sum_next * 2.0 / x)
}

/// `p + i q = -1 / 2x + i + i / x ((1/2)² - μ²) / (2 (x + i) + ((3/2)² - μ²) / (2 (x + 2i) + ...))`, by Lentz's method.
fn steed(mu: f64, x: f64) -> (f64, f64) {
    type Complex = (f64, f64);
    let times = |a: Complex, b: Complex| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    let inverse = |a: Complex| {
        let size = a.0 * a.0 + a.1 * a.1;
        (a.0 / size, -a.1 / size)
    };
    let mut a = 0.25 - mu * mu;
    let mut b = (2.0 * x, 2.0);
    let mut d = inverse(b);
    let mut c = (HUGE, 0.0);
    let mut h = (a * d.0, a * d.1);
    for k in 1..MOST {
        a += 2.0 * f64::from(k);
        b.1 += 2.0;
        d = inverse((b.0 + a * d.0, b.1 + a * d.1));
        let over = inverse(c);
        c = (b.0 + a * over.0, b.1 + a * over.1);
        let change = times(c, d);
        h = times(h, change);
        if (change.0 - 1.0).abs() + change.1.abs() < EPS {
            break;
        }
    }
    (-0.5 / x - h.1 / x, 1.0 + h.0 / x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bessel_modified::{bessel_i, bessel_i_scaled, bessel_k, bessel_k_scaled};

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-14, "{got} is not {want}");
    }

    fn near_by(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-12, "{got} is not {want}");
    }

    #[test]
    fn halves_are_elementary() {
        for x in [1e-5, 0.3, 1.9, 2.1, 7.0, 24.0, 26.0, 300.0f64] {
            let size = (2.0 / (PI * x)).sqrt();
            assert!((bessel_j(0.5, x) - size * x.sin()).abs() < 1e-15 * size.max(1.0));
            assert!((bessel_y(0.5, x) + size * x.cos()).abs() < 2e-15 * size.max(1.0));
            assert!((bessel_j(-0.5, x) - size * x.cos()).abs() < 2e-15 * size.max(1.0));
            near(bessel_k_scaled(0.5, x), (PI / (2.0 * x)).sqrt());
            near(bessel_i_scaled(0.5, x), -0.5 * size * (-2.0 * x).exp_m1());
        }
    }

    #[test]
    fn wronskians() {
        for order in [0.0, 0.3, 1.0, 2.5, 10.0, 50.7] {
            for x in [0.01, 1.0, 3.0, 12.0, 40.0, 1e3, 1e5] {
                let (j, j1) = (bessel_j(order, x), bessel_j(order + 1.0, x));
                let (y, y1) = (bessel_y(order, x), bessel_y(order + 1.0, x));
                let close = |one: f64| assert!((one - 1.0).abs() < 2e-13, "{order} {x}: {one}");
                close((j1 * y - j * y1) * PI * x / 2.0);
                let (i, i1) = (bessel_i_scaled(order, x), bessel_i_scaled(order + 1.0, x));
                let (k, k1) = (bessel_k_scaled(order, x), bessel_k_scaled(order + 1.0, x));
                close((i * k1 + i1 * k) * x);
            }
        }
    }

    #[test]
    fn ends() {
        assert_eq!(bessel_j(0.0, 0.0), 1.0);
        assert_eq!(bessel_j(2.0, 0.0), 0.0);
        assert_eq!(bessel_y(1.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(bessel_i(0.0, 0.0), 1.0);
        assert_eq!(bessel_k(0.0, 0.0), f64::INFINITY);
        assert_eq!(bessel_i(1.0, 1000.0), f64::INFINITY);
        assert_eq!(bessel_k(1.0, 1000.0), 0.0);
        assert!(bessel_j(0.0, -1.0).is_nan());
        assert_eq!(bessel_j(-0.5, 0.0), f64::INFINITY);
        assert_eq!(bessel_j(-1.5, 0.0), f64::NEG_INFINITY);
        assert_eq!(bessel_j(-2.0, 0.0), 0.0);
        assert_eq!(bessel_y(-0.5, 0.0), 0.0);
        assert_eq!(bessel_y(-1.0, 0.0), f64::INFINITY);
        near(bessel_j(-1.0, 2.0), -bessel_j(1.0, 2.0));
        near(bessel_i(-1.0, 2.0), bessel_i(1.0, 2.0));
    }
    #[test]
    fn orders_beyond_all_steps_end() {
        for order in [1e10, 1e15, 1e300] {
            assert_eq!(bessel_j(order, 3.0), 0.0);
            assert_eq!(bessel_y(order, 3.0), f64::NEG_INFINITY);
            assert_eq!(bessel_i(order, 3.0), 0.0);
            assert_eq!(bessel_k(order, 3.0), f64::INFINITY);
        }
        assert!(bessel_k(1e14, 1e15).is_nan());
        assert!(bessel_j(1e7, 1e8).is_nan());
    }

    #[test]
    fn values_in_range_whose_scaled_ones_are_not() {
        near_by(bessel_i(500.0, 100.0), 3.590_051_431_469_61e-283);
        near_by(bessel_k(500.0, 100.0), 2.731_383_171_990_18e279);
        near_by(bessel_k(1000.0, 400.0), 1.643_965_724_562_9e246);
        near_by(bessel_i(800.0, 700.0), 4.512_725_679_485_76e119);
        assert_eq!(bessel_i(2000.0, 800.0), 0.0);
        assert_eq!(bessel_k(2000.0, 800.0), f64::INFINITY);
        assert_eq!(bessel_i(1e4, 1e4), f64::INFINITY);
        assert_eq!(bessel_k(1e4, 1e4), 0.0);
    }
}
