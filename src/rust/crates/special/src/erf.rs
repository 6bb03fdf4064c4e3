//! The error function, its complement, the normal distribution's function, and their inverses.
//!
//! `erf` and `erfc` are `libm`'s, good to one unit in the last place. What is scaled keeps full relative accuracy in the
//! tails, where `x²` is taken in two parts. Inverses solve for the logarithm of the tail, which is concave, by
//! Halley's method.

use crate::number::Number;
use crate::series::polynomial;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, PI, SQRT_2};

/// From here on [`erfcx`] is its asymptotic series.
pub(crate) const FAR: f64 = 10.0;

/// `√2` less its f64.
const SQRT_2_REST: f64 = -9.667_293_313_452_913e-17;

/// `erf(x)`.
#[must_use]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// `erfc(x) = 1 - erf(x)`.
#[must_use]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// `exp(x²) erfc(x)`; overflows below -26.6.
#[must_use]
pub fn erfcx(x: f64) -> f64 {
    scaled_erfc(x)
}

/// The same with derivatives. Far out by the asymptotic series, DLMF 7.12.1.
pub(crate) fn scaled_erfc<T: Number>(x: T) -> T {
    if x.value() < FAR || x.value().is_nan() {
        return x.erfcx_near();
    }
    // (-1)ᵏ (2k - 1)!!
    const SERIES: [f64; 16] = [
        1.0,
        -1.0,
        3.0,
        -15.0,
        105.0,
        -945.0,
        10395.0,
        -135_135.0,
        2_027_025.0,
        -34_459_425.0,
        654_729_075.0,
        -13_749_310_575.0,
        316_234_143_225.0,
        -7_905_853_580_625.0,
        213_458_046_676_875.0,
        -6_190_283_353_629_375.0,
    ];
    let inverse = x.recip();
    inverse * polynomial(inverse * inverse * 0.5, &SERIES) * (0.5 * FRAC_2_SQRT_PI)
}

pub(crate) fn erfcx_near(x: f64) -> f64 {
    if x < -27.0 {
        return f64::INFINITY;
    }
    // The square in two parts, of which the larger is exact
    let head = f64::from_bits(x.to_bits() & !0x7ff_ffff);
    ((x - head) * (x + head)).exp() * (head * head).exp() * erfc(x)
}

/// `Φ(x)`, the normal distribution's function.
#[must_use]
pub fn ndtr(x: f64) -> f64 {
    let z = -x * FRAC_1_SQRT_2;
    let tail = 0.5 * erfc(z);
    if !(1.0..30.0).contains(&z) {
        return tail;
    }
    // What rounding z made of the tail
    let missed = libm::fma(-z, SQRT_2, -x) - z * SQRT_2_REST;
    tail * (1.0 - missed * FRAC_1_SQRT_2 * (z + (z * z + 2.0).sqrt()))
}

/// `ln Φ(x)`.
#[must_use]
pub fn log_ndtr(x: f64) -> f64 {
    if x < -1.0 {
        return (0.5 * erfcx(-x * FRAC_1_SQRT_2)).ln() - 0.5 * x * x;
    }
    if x < 0.0 {
        return ndtr(x).ln();
    }
    (-ndtr(-x)).ln_1p()
}

/// Where the normal distribution's upper tail has this logarithm, below `ln 0.3`.
fn tail_inverse(log_tail: f64) -> f64 {
    if log_tail == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    let square = -2.0 * log_tail;
    let root = square.sqrt();
    let mut t = if root < 8.0 {
        // Abramowitz and Stegun 26.2.23
        let top = polynomial(root, &[2.515_517, 0.802_853, 0.010_328]);
        root - top / polynomial(root, &[1.0, 1.432_788, 0.189_269, 0.001_308])
    } else {
        (square - (2.0 * PI).ln() - square.ln()).sqrt()
    };
    for _ in 0..12 {
        let off = log_ndtr(-t) - log_tail;
        let hazard = (FRAC_2_SQRT_PI * FRAC_1_SQRT_2) / erfcx(t * FRAC_1_SQRT_2);
        let newton = off / hazard;
        let step = newton / (1.0 + 0.5 * newton * (hazard - t));
        t += step;
        // Halley's steps cube the error.
        if step.abs() < 1e-6 * t {
            break;
        }
    }
    t
}

/// The inverse of `erf`; infinite at -1 and 1, NaN beyond.
#[must_use]
pub fn erfinv(y: f64) -> f64 {
    if y.abs() > 0.5 {
        let z = tail_inverse((0.5 * (1.0 - y.abs())).ln()) * FRAC_1_SQRT_2;
        return z.copysign(y);
    }
    let square = y * y * PI;
    let mut x =
        y / FRAC_2_SQRT_PI * polynomial(square, &[1.0, 1.0 / 12.0, 7.0 / 480.0, 127.0 / 40320.0]);
    for _ in 0..2 {
        let newton = (erf(x) - y) / (FRAC_2_SQRT_PI * (-x * x).exp());
        x -= newton / (1.0 + x * newton);
    }
    x
}

/// The inverse of `erfc`; infinite at 0 and 2, NaN beyond.
#[must_use]
pub fn erfcinv(y: f64) -> f64 {
    let small = |y: f64| tail_inverse(y.ln() - LN_2) * FRAC_1_SQRT_2;
    if y < 0.5 {
        small(y)
    } else if y > 1.5 {
        -small(2.0 - y)
    } else {
        erfinv(1.0 - y)
    }
}

/// The inverse of `Φ`; infinite at 0 and 1, NaN beyond.
#[must_use]
pub fn ndtri(p: f64) -> f64 {
    if p < 0.25 {
        return -tail_inverse(p.ln());
    }
    if p > 0.75 {
        return tail_inverse((1.0 - p).ln());
    }
    SQRT_2 * erfinv(2.0 * p - 1.0)
}

/// The inverse of `ln Φ`; NaN above 0.
#[must_use]
pub fn ndtri_exp(log_p: f64) -> f64 {
    if log_p < -1.386 {
        return -tail_inverse(log_p);
    }
    if log_p > -0.288 {
        return tail_inverse((-log_p.exp_m1()).ln());
    }
    ndtri(log_p.exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;

    /// The relative error that is allowed.
    const ERROR: f64 = 2e-15;

    #[test]
    fn known_values() {
        near(ERROR, erfcx(0.5), 0.615_690_344_192_925_9);
        near(ERROR, erfcx(9.999), 0.056_146_552_603_965_94);
        near(ERROR, erfcx(100.0), 0.005_641_613_782_989_433);
        near(ERROR, ndtr(-10.0), 7.619_853_024_160_526e-24);
        near(ERROR, ndtr(-37.5), 4.605_353_009_581_954e-308);
        near(ERROR, log_ndtr(-1e4), -50_000_010.129_278_92);
        near(ERROR, log_ndtr(10.0), -7.619_853_024_160_526e-24);
    }

    #[test]
    fn inverses_invert() {
        for y in [1e-300, 1e-20, 1e-3, 0.2, 0.249, 0.25, 0.4] {
            near(ERROR, erf(erfinv(y)), y);
            assert!((erfc(erfcinv(y)) / y - 1.0).abs() < 1e-15 - 4e-16 * y.ln());
            assert!((ndtr(ndtri(y)) / y - 1.0).abs() < 1e-15 - 4e-16 * y.ln());
        }
        for log_p in [-1e10, -1e3, -2.0, -1.386, -1.0, -0.3, -0.288, -0.1] {
            near(ERROR, log_ndtr(ndtri_exp(log_p)), log_p);
        }
        for log_p in [-1e-10, -1e-300f64] {
            let back = log_ndtr(ndtri_exp(log_p));
            assert!((back / log_p - 1.0).abs() < -4e-16 * (-log_p).ln());
        }
    }

    #[test]
    fn ends() {
        assert_eq!(erfinv(1.0), f64::INFINITY);
        assert_eq!(erfcinv(2.0), f64::NEG_INFINITY);
        assert_eq!(ndtri(0.0), f64::NEG_INFINITY);
        assert_eq!(ndtri(1.0), f64::INFINITY);
        assert_eq!(ndtri_exp(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(ndtri_exp(0.0), f64::INFINITY);
        assert!(ndtri(1.1).is_nan() && ndtri(-0.1).is_nan() && erfinv(-2.0).is_nan());
        assert!(erfcinv(2.5).is_nan() && ndtri_exp(0.1).is_nan());
        assert_eq!(log_ndtr(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(log_ndtr(f64::INFINITY), 0.0);
    }
}
