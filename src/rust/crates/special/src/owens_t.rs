//! Owen's T function: the integral of `exp(-h² (1 + t²) / 2) / (1 + t²) / 2π` over t from 0 to a. D. B. Owen, "Tables for
//! computing bivariate normal probabilities", Ann. Math. Stat. 27 (1956), 1075-1090.
//!
//! By Gauss's formula where `a <= 1`, over no more than the integrand can be seen, so that tails keep their digits; larger `a`
//! by the relation between `T(h, a)` and `T(a h, 1 / a)`.

use crate::coefficients::{GAUSS_NODES, GAUSS_WEIGHTS};
#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::erf::ndtr;
use std::f64::consts::PI;

/// `T(h, a)`.
#[must_use]
pub fn owens_t(h: f64, a: f64) -> f64 {
    if h.is_nan() || a.is_nan() {
        return f64::NAN;
    }
    let (h, size) = (h.abs(), a.abs());
    let value = if size <= 1.0 {
        integral(h, size)
    } else if size == f64::INFINITY {
        0.5 * ndtr(-h)
    } else {
        let (first, second) = (ndtr(-h), ndtr(-size * h));
        0.5 * (first + second) - first * second - integral(size * h, 1.0 / size)
    };
    value.copysign(a)
}

fn integral(h: f64, a: f64) -> f64 {
    if h > 40.0 {
        return 0.0;
    }
    // Beyond, exp(-h² t² / 2) is below 1e-18.
    let end = a.min(9.2 / h);
    let mut sum = 0.0;
    for (node, weight) in GAUSS_NODES.iter().zip(GAUSS_WEIGHTS) {
        for node in [-node, *node] {
            let t = 0.5 * end * (1.0 + node);
            let square = t * t;
            sum += weight * (-0.5 * h * h * square).exp() / (1.0 + square);
        }
    }
    0.5 * end * sum * (-0.5 * h * h).exp() / (2.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-14, "{got}");
        near(owens_t(0.0, 1.0), 0.125);
        near(owens_t(0.0, 2.0), 2f64.atan() / (2.0 * PI));
        let half = ndtr(-1.3);
        near(owens_t(1.3, 1.0), 0.5 * half * (1.0 - half));
        near(owens_t(-1.3, -1.0), -0.5 * half * (1.0 - half));
        assert!((owens_t(1.0, 1.000_000_001) - owens_t(1.0, 1.0)).abs() < 1e-9);
        near(owens_t(30.0, f64::INFINITY), 0.5 * ndtr(-30.0));
        assert_eq!(owens_t(f64::INFINITY, 1.0), 0.0);
    }
}
