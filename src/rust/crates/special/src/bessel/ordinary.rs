//! Bessel functions J and Y.

use super::common::*;
#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use std::f64::consts::PI;

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

/// `J` and `Y` for `ν >= 0`, `0 < x < ∞`.
fn ordinary(order: f64, x: f64) -> (f64, f64) {
    if let Some(both) = far_out(order, x) {
        return both;
    }
    // Up to the argument both solutions of the recurrence are of one size.
    let mu = order - order.floor();
    if order < x.min(f64::from(MOST)) {
        if let (Some(first), Some(next)) = (far_out(mu, x), far_out(mu + 1.0, x)) {
            let up = |value, next| upwards(mu, x, (value, next), order - mu, -1.0).narrow();
            return (up(first.0, next.0), up(first.1, next.1));
        }
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

/// By Hankel's sum, None where it does not reach full accuracy
fn far_out(order: f64, x: f64) -> Option<(f64, f64)> {
    let (even, odd) = hankel(order, x, -1.0)?;
    let (shift_sin, shift_cos) = sin_cos_pi(0.5 * order + 0.25);
    let (sin, cos) = x.sin_cos();
    let cosine = cos * shift_cos + sin * shift_sin;
    let sine = sin * shift_cos - cos * shift_sin;
    let size = (2.0 / (PI * x)).sqrt();
    Some((
        size * (even * cosine - odd * sine),
        size * (even * sine + odd * cosine),
    ))
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
