//! The incomplete beta function near the mean of large parameters.
//!
//! In the log odds `v`, less those of the mean `p = a / (a + b)`, `q = 1 - p`, the density is the exponential of
//! `-s² K(v) / (p q)`, where `s² = (a + b) p q` and `K(v) = ln(q + p eᵛ) - p v`. With `K(v) = p q y² / 2` that is a Gaussian
//! in `z = s y`, with the factor `f(y) = dv / dy`. Its power series follows from `K' = p q y / f`, whose derivative gives
//! `f - y f' = f³ + (q - p) y f² - p q y² f`. It converges for `|y| < √(4π)`, whatever `p` is, so the integral of each term
//! gives an expansion in `1 / s` that holds uniformly in `z`.

use crate::erf::scaled_erfc;
use crate::gamma::stirling_rest;
use crate::number::Number;
use crate::series::ln_1p_curve;
use crate::tail::Tail;

/// The smaller parameter from which on it is used, where `|y| < 0.2`.
const FROM: f64 = 500.0;
/// How many terms that takes.
const TERMS: usize = 16;

/// Whether the expansion has all digits there; `excess` is `x (a + b) - a`.
pub(crate) fn holds(a: f64, b: f64, excess: f64) -> bool {
    let least = a.min(b);
    least >= FROM && excess.abs() <= 0.1 * least
}

/// The tail on the side of `excess`'s sign.
pub(crate) fn tail<T: Number>(a: T, b: T, excess: T) -> Tail<T> {
    let sum = a + b;
    let (p, q) = (a / sum, b / sum);
    let s = (p * b).sqrt();
    let curve = -(ln_1p_curve(excess / a) / a + ln_1p_curve(-excess / b) / b);
    let half_square = excess * excess * curve;
    let is_lower = excess.value() < 0.0;
    let z = excess * (curve * 2.0).sqrt();
    // Below the mean the odds and with them p and q change places.
    let (z, skew) = if is_lower { (-z, p - q) } else { (z, q - p) };
    let rest = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b);
    Tail {
        is_lower,
        log: -half_square + rest,
        factor: integral(z, s, skew, p * q),
    }
}

/// `∫ f(t / s) exp((z² - t²) / 2) dt / √(2π)` from `z` on.
fn integral<T: Number>(z: T, s: T, skew: T, product: T) -> T {
    let zero = T::constant(0.0);
    let inverse = s.recip();
    // The series of f in t / s, and of its square
    let mut f = [zero; TERMS];
    let mut square = [zero; TERMS];
    f[0] = T::constant(1.0);
    square[0] = f[0];
    // ∫ tᵏ exp((z² - t²) / 2) dt / √(2π), of this k and the two before
    let mut moment = scaled_erfc(z * std::f64::consts::FRAC_1_SQRT_2) * 0.5;
    let mut before = zero;
    let mut power = T::constant(1.0 / crate::gamma::SQRT_TAU);
    let mut scale = T::constant(1.0);
    let mut sum = moment;
    for k in 1..TERMS {
        let order = k as f64;
        let next = if k == 1 {
            power
        } else {
            power = power * z;
            power + before * (order - 1.0)
        };
        (before, moment) = (moment, next);
        scale = scale * inverse;
        // f³ and f² without what has f[k]
        let inner = convolved(&f, &f, 1, k);
        let cube = inner + convolved(&f, &square, 1, k);
        let mut known = cube + skew * square[k - 1];
        if k > 1 {
            known = known - product * f[k - 2];
        }
        f[k] = -known / (order + 2.0);
        square[k] = f[k] * 2.0 + inner;
        sum = sum + f[k] * scale * moment;
    }
    sum
}

/// The sum of `a[j] b[k - j]` for j from `from` to `k - from`.
fn convolved<T: Number>(a: &[T], b: &[T], from: usize, k: usize) -> T {
    let range = from..=(k - from);
    range.fold(T::constant(0.0), |sum, j| sum + a[j] * b[k - j])
}
