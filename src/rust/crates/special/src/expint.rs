//! Exponential integrals: DLMF 6.2, 8.19.

#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::zeta::digamma;

const EULER: f64 = 0.577_215_664_901_532_9;
const EPS: f64 = 1e-17;

/// `Eₙ(x)`, the integral of `exp(-x t) / tⁿ` over t from 1 on, for whole `n >= 0` and `x >= 0`.
#[must_use]
pub fn expint_n(n: f64, x: f64) -> f64 {
    if n.is_nan() || x.is_nan() || n < 0.0 || n != n.floor() || x < 0.0 {
        return f64::NAN;
    }
    if x == f64::INFINITY || n == f64::INFINITY {
        return 0.0;
    }
    if x == 0.0 {
        return if n > 1.0 {
            1.0 / (n - 1.0)
        } else {
            f64::INFINITY
        };
    }
    if n == 0.0 {
        return (-x).exp() / x;
    }
    if x > 1.0 {
        // The continued fraction DLMF 8.19.17, contracted
        let mut b = x + n;
        let mut c = 1e300;
        let mut d = 1.0 / b;
        let mut h = d;
        for k in 1..10_000 {
            let k = f64::from(k);
            let a = -k * (n - 1.0 + k);
            b += 2.0;
            d = 1.0 / (a * d + b);
            c = b + a / c;
            let change = c * d;
            h *= change;
            if (change - 1.0).abs() < 1e-16 {
                break;
            }
        }
        return h * (-x).exp();
    }
    // DLMF 8.19.8
    let (mut sum, mut power) = (0.0, 1.0);
    let mut m = 0.0;
    loop {
        let part = if m == n - 1.0 {
            power * (digamma(n) - x.ln())
        } else {
            -power / (m - n + 1.0)
        };
        sum += part;
        if m >= n && part.abs() < EPS * sum.abs() {
            return sum;
        }
        m += 1.0;
        power *= -x / m;
        if power == 0.0 || m > 200.0 {
            return sum;
        }
    }
}

/// `Ei(x)`, the principal value of the integral of `exp(t) / t` up to `x`; minus infinity at 0. Near its zero, 0.3725, only
/// the absolute error is small.
#[must_use]
pub fn expint_ei(x: f64) -> f64 {
    if x < 0.0 {
        return -expint_n(1.0, -x);
    }
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < 40.0 {
        let (mut sum, mut power) = (0.0, 1.0);
        for k in 1..500 {
            let k = f64::from(k);
            power *= x / k;
            sum += power / k;
            if power < EPS * sum {
                break;
            }
        }
        return EULER + x.ln() + sum;
    }
    let (mut sum, mut part) = (1.0, 1.0);
    for k in 1..40 {
        part *= f64::from(k) / x;
        sum += part;
        if part < EPS {
            break;
        }
    }
    let half = (0.5 * x).exp();
    half * (sum / x) * half
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;

    /// The relative error that is allowed.
    const ERROR: f64 = 1e-14;

    #[test]
    fn known_values() {
        near(ERROR, expint_n(1.0, 1.0), 0.219_383_934_395_520_28);
        near(ERROR, expint_n(1.0, 1.000_000_1), 0.219_383_897_607_582_2);
        near(ERROR, expint_n(3.0, 0.5), 0.221_604_364_275_178_46);
        near(ERROR, expint_ei(1.0), 1.895_117_816_355_936_8);
        near(ERROR, expint_ei(50.0), 1.058_563_689_713_169e20);
        near(ERROR, expint_ei(-2.0), -0.048_900_510_708_061_12);
        assert_eq!(expint_n(1.0, 0.0), f64::INFINITY);
        assert_eq!(expint_n(3.0, 0.0), 0.5);
        assert_eq!(expint_ei(0.0), f64::NEG_INFINITY);
    }
}
