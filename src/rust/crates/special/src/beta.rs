//! The beta function and binomial coefficients.

#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use crate::gamma::{gamma, lgamma, lgamma_step, stirling_rest, LN_SQRT_TAU};
use crate::number::Number;

/// `ln B(a, b) = ln Γ(a) + ln Γ(b) - ln Γ(a + b)` for `a, b > 0`; infinite where one is 0, NaN where one is
/// negative.
#[must_use]
pub fn lbeta(a: f64, b: f64) -> f64 {
    let (p, q) = if a <= b { (a, b) } else { (b, a) };
    if a.is_nan() || b.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::INFINITY;
    }
    if q == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    ln_beta(p, q)
}

/// `ln B(p, q)` for `0 < p <= q`. From 10 on by Stirling's formula, whose large terms cancel on paper.
pub(crate) fn ln_beta<T: Number>(p: T, q: T) -> T {
    if p.value() >= 10.0 {
        let rest = stirling_rest(p) + stirling_rest(q) - stirling_rest(p + q);
        let ratio = p / q;
        let share = ratio / (ratio + 1.0);
        return -(q.ln() * 0.5) + LN_SQRT_TAU + rest + (p - 0.5) * share.ln() - q * ratio.ln_1p();
    }
    if q.value() >= 10.0 {
        return p.lgamma() - lgamma_step(q, p);
    }
    p.lgamma() + (q.lgamma() - (p + q).lgamma())
}

/// `B(a, b)`, as [`lbeta`].
#[must_use]
pub fn beta(a: f64, b: f64) -> f64 {
    // Below, no factor overflows.
    if a > 0.0 && b > 0.0 && a + b < 171.0 {
        return gamma(a) * (1.0 / gamma(a + b)) * gamma(b);
    }
    lbeta(a, b).exp()
}

/// From which `k` on binomial coefficients are no products of their factors.
const MANY: f64 = 30.0;

/// The binomial coefficient of any real `n` and of `k` rounded to a whole number.
#[must_use]
pub fn choose(n: f64, k: f64) -> f64 {
    let k = k.round_ties_even();
    if n.is_nan() || k.is_nan() {
        return f64::NAN;
    }
    if k < MANY {
        return choose_few(n, k);
    }
    if n < 0.0 {
        let sign = if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        return sign * choose_many(k - n - 1.0, k);
    }
    choose_many(n, k)
}

/// For whole `k` below [`MANY`].
fn choose_few(n: f64, mut k: f64) -> f64 {
    let whole = n == n.floor();
    if whole && n >= 0.0 && n - k < k {
        k = n - k;
    }
    if k < 0.0 {
        return 0.0;
    }
    let (mut product, mut j) = (1.0, 0.0);
    while j < k {
        product *= (n - j) / (j + 1.0);
        j += 1.0;
    }
    if whole {
        product.round_ties_even()
    } else {
        product
    }
}

/// For whole `k` from [`MANY`] on and `n >= 0`.
fn choose_many(n: f64, k: f64) -> f64 {
    if n == n.floor() {
        return match n - k {
            left if left < 0.0 => 0.0,
            left if left < MANY => choose_few(n, left),
            _ => lchoose(n, k).exp().round_ties_even(),
        };
    }
    // The sign of Γ(n - k + 1)
    let negative = n < k - 1.0 && (n - k + 1.0).floor() % 2.0 != 0.0;
    let size = lchoose(n, k).exp();
    if negative {
        -size
    } else {
        size
    }
}

/// `ln |choose(n, k)|`.
#[must_use]
pub fn lchoose(n: f64, k: f64) -> f64 {
    let k = k.round_ties_even();
    if n.is_nan() || k.is_nan() {
        return f64::NAN;
    }
    if k < 2.0 {
        return match k {
            k if k < 0.0 => f64::NEG_INFINITY,
            0.0 => 0.0,
            _ => n.abs().ln(),
        };
    }
    if n < 0.0 {
        return lchoose(k - n - 1.0, k);
    }
    if n == n.floor() {
        if n < k {
            return f64::NEG_INFINITY;
        }
        if n - k < 2.0 {
            return lchoose(n, n - k);
        }
    } else if n < k - 1.0 {
        return lgamma(n + 1.0) - lgamma(n - k + 1.0) - lgamma(k + 1.0);
    }
    -n.ln_1p() - lbeta(n - k + 1.0, k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;

    /// The relative error that is allowed.
    const ERROR: f64 = 1e-14;

    #[test]
    fn coefficients_as_r_has_them() {
        assert_eq!(choose(5.0, 2.0), 10.0);
        assert_eq!(choose(5.0, 2.7), 10.0);
        assert_eq!(choose(5.0, -1.0), 0.0);
        assert_eq!(choose(5.0, 7.0), 0.0);
        assert_eq!(choose(50.0, 3.0), 19600.0);
        assert_eq!(choose(-2.5, 3.0), -6.5625);
        near(ERROR, choose(0.5, 40.0), -1.125_669_351_568_449_6e-3);
        near(ERROR, choose(60.0, 30.0), 118_264_581_564_861_424.0);
        assert_eq!(lchoose(5.0, 7.0), f64::NEG_INFINITY);
        near(ERROR, lchoose(-3.0, 2.0), 6f64.ln());
    }

    #[test]
    fn logarithms_of_beta_meet() {
        near(ERROR, beta(2.0, 3.0), 1.0 / 12.0);
        near(ERROR, lbeta(1e6, 1e6), -1_386_300.003_362_921_2);
        let below = f64::from_bits(10f64.to_bits() - 1);
        near(ERROR, lbeta(below, 12.0), lbeta(10.0, 12.0));
        near(ERROR, lbeta(3.0, below), lbeta(3.0, 10.0));
        assert!(lbeta(-1.0, 2.0).is_nan());
        assert_eq!(beta(0.0, 1.0), f64::INFINITY);
        assert_eq!(beta(f64::INFINITY, 2.0), 0.0);
    }
}
