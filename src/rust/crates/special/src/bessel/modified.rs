//! Modified Bessel functions of real order, by the methods of J and Y.

use super::common::{
    at_end, at_zero, hankel, mixed, over_sine, series, sin_cos_pi, sinh_over, upwards, vanishing,
    Down, Gammas, EPS, MOST,
};
#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::wide::Wide;
use std::f64::consts::PI;

/// `exp(-x) I_ν(x)` for `x >= 0`.
#[must_use]
pub fn bessel_i_scaled(order: f64, x: f64) -> f64 {
    first_kind(order, x, -x)
}

/// `I_ν(x)` for `x >= 0`.
#[must_use]
pub fn bessel_i(order: f64, x: f64) -> f64 {
    first_kind(order, x, 0.0)
}

/// `exp(x) K_ν(x)` for `x >= 0`; infinite at 0.
#[must_use]
pub fn bessel_k_scaled(order: f64, x: f64) -> f64 {
    at_end(order, x, f64::INFINITY, 0.0).unwrap_or_else(|| modified(order.abs(), x).1.narrow())
}

/// `K_ν(x)` for `x >= 0`; infinite at 0.
#[must_use]
pub fn bessel_k(order: f64, x: f64) -> f64 {
    at_end(order, x, f64::INFINITY, 0.0)
        .unwrap_or_else(|| modified(order.abs(), x).1.times_exp(-x).narrow())
}

/// `exp(log) I`, where `log` is 0 or `-x`.
fn first_kind(order: f64, x: f64, log: f64) -> f64 {
    let at_infinity = if log == 0.0 { f64::INFINITY } else { 0.0 };
    if let Some(value) = at_end(order, x, at_zero(order), at_infinity) {
        return value;
    }
    let (i, k) = modified(order.abs(), x);
    let i = i.times_exp(x + log).narrow();
    if order >= 0.0 {
        return i;
    }
    let (sin, _) = sin_cos_pi(-order);
    mixed(1.0, i, sin * (2.0 / PI), k.times_exp(log - x).narrow())
}

/// `exp(-x) I` and `exp(x) K` for `ν >= 0`, `0 < x < ∞`.
fn modified(order: f64, x: f64) -> (Wide, Wide) {
    if let Some((even, odd)) = hankel(order, x, 1.0) {
        let size = (2.0 * PI * x).sqrt();
        return (
            Wide::from((even - odd) / size),
            Wide::from((even + odd) * PI / size),
        );
    }
    if let Some((i, k)) = vanishing(order, x) {
        return (Wide::from(i), Wide::from(k));
    }
    let steps = (order + 0.5).floor();
    let mu = order - steps;
    if x < 2.0 {
        let k = upwards(mu, x, modified_near_zero(mu, x), steps, 1.0);
        return (
            Wide::from(series(order, x, 1.0)).times_exp(-x),
            k.times_exp(x),
        );
    }
    let mut h = (order / x).max(1e-300);
    let (mut b, mut d, mut c) = (2.0 * order / x, 0.0, h);
    for _ in 0..MOST {
        b += 2.0 / x;
        d = 1.0 / (b + d);
        c = b + 1.0 / c;
        let change = c * d;
        h *= change;
        if (change - 1.0).abs() < EPS {
            break;
        }
    }
    let down = Down::from(order, x, 1.0, h, steps, 1.0);
    let (k, k_next) = modified_fraction(mu, x);
    let k_slope = mu / x * k - k_next;
    let i = 1.0 / (x * (down.slope / down.value * k - k_slope));
    (down.scaled(i), upwards(mu, x, (k, k_next), steps, 1.0))
}

/// `K_μ` and `K_{μ + 1}`: Temme's series.
fn modified_near_zero(mu: f64, x: f64) -> (f64, f64) {
    let g = Gammas::at(mu);
    let log = (2.0 / x).ln();
    let sigma = mu * log;
    let mut f = over_sine(PI * mu) * (g.odd * sigma.cosh() + g.even * sinh_over(sigma) * log);
    let power = sigma.exp();
    let mut p = 0.5 * power / g.plus;
    let mut q = 0.5 / (power * g.minus);
    let (mut sum, mut sum_next) = (f, p);
    let mut c = 1.0;
    for k in 1..MOST {
        let k = f64::from(k);
        f = (k * f + p + q) / (k * k - mu * mu);
        c *= 0.25 * x * x / k;
        p /= k - mu;
        q /= k + mu;
        sum += c * f;
        sum_next += c * (p - k * f);
        if (c * f).abs() < EPS * sum.abs() {
            break;
        }
    }
    (sum, sum_next * 2.0 / x)
}

/// `exp(x) K_μ` and `exp(x) K_{μ + 1}`: Temme's continued fraction, whose sum is added up on the way.
fn modified_fraction(mu: f64, x: f64) -> (f64, f64) {
    let first = 0.25 - mu * mu;
    let mut b = 2.0 * (1.0 + x);
    let mut d = 1.0 / b;
    let (mut h, mut step) = (d, d);
    let (mut q_before, mut q_now) = (0.0, 1.0);
    let (mut a, mut c, mut q) = (-first, first, first);
    let mut sum = 1.0 + q * step;
    for k in 2..MOST {
        let k = f64::from(k);
        a -= 2.0 * (k - 1.0);
        c = -a * c / k;
        let q_next = (q_before - b * q_now) / a;
        (q_before, q_now) = (q_now, q_next);
        q += c * q_next;
        b += 2.0;
        d = 1.0 / (b + a * d);
        step *= b * d - 1.0;
        h += step;
        let part = q * step;
        sum += part;
        if part.abs() < EPS * sum.abs() {
            break;
        }
    }
    let k = (PI / (2.0 * x)).sqrt() / sum;
    (k, k * (mu + x + 0.5 - first * h) / x)
}
