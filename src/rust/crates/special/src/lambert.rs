//! Lambert's W function, its branch above -1: R. M. Corless et al., "On the Lambert W function", Adv. Comput. Math. 5
//! (1996), 329-359.

#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;

/// `W₀(x)`, the solution of `w exp(w) = x` with `w >= -1`; NaN for `x < -1/e`.
#[must_use]
pub fn lambert_w(x: f64) -> f64 {
    const E: f64 = std::f64::consts::E;
    /// `e` less its f64.
    const E_REST: f64 = 1.445_646_891_729_250_2e-16;
    if x == 0.0 || x == f64::INFINITY || x.is_nan() {
        return x;
    }
    // From the branch point: 1 + e x
    let above = libm::fma(E, x, 1.0) + E_REST * x;
    if above <= 0.0 {
        return if above > -1e-16 { -1.0 } else { f64::NAN };
    }
    let p = (2.0 * above).sqrt();
    if p < 1e-3 {
        let series = -1.0 / 3.0 + p * (11.0 / 72.0 + p * (-43.0 / 540.0 + p * (769.0 / 17280.0)));
        return -1.0 + p * (1.0 + p * series);
    }
    let mut w = if x < 0.0 {
        -1.0 + p * (1.0 - p / 3.0 + p * p * (11.0 / 72.0))
    } else if x < 3.0 {
        x.ln_1p() * (1.0 - x.ln_1p() / (2.0 + x.ln_1p()) * 0.5)
    } else {
        let log = x.ln();
        log - log.ln()
    };
    for _ in 0..20 {
        let off = w - x * (-w).exp();
        // Halley's step for w exp(w) - x, all over exp(w)
        let step = off / (w + 1.0 - 0.5 * (w + 2.0) * off / (w + 1.0));
        w -= step;
        if step.abs() < 1e-7 * w.abs() {
            break;
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves() {
        for x in [
            -0.367, -0.3, -1e-5, 1e-300, 1e-8, 0.3, 1.0, 2.9, 3.1, 1e3, 1e100, 1e300,
        ] {
            let w = lambert_w(x);
            assert!(
                (w.ln() + w - x.ln()).abs() < 1e-13 || (w * w.exp() / x - 1.0).abs() < 1e-14,
                "{x}"
            );
        }
        assert!((lambert_w(1.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
        assert!(lambert_w(-0.4).is_nan());
        assert!((lambert_w(-0.367_879_441_171_442_33) + 1.0).abs() < 1e-7);
    }
}
