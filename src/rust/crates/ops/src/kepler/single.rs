//! Kepler's equation in f32, one point; also what f64 starts from.
//!
//! 1. Starter: Mikkola (1987, Celestial Mechanics 40, 329): with `s = sin(E / 3)` the equation is
//!    nearly a cubic in `s`, which has a closed form; a term in `s⁵` corrects it. Relative error at
//!    most 1.6e-3, and far less near the corner `e → 1, M → 0`.
//! 2. One step of Halley's method, as a series: relative error below 1e-8 before rounding.
//!
//! Straight-line code without branches or calls, so that a loop over it becomes vector code.

use super::arith::fma;

/// An approximate solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approx {
    /// `E`.
    pub(super) anomaly: f32,
    /// `1 / (1 - e cos E)`.
    pub(super) inverse: f32,
    /// `sin E`.
    pub(super) sin: f32,
    /// `cos E`.
    pub(super) cos: f32,
}

/// One step from `start`, the result of [`starter`], for `m` in `[0, π]` and `w = 1 - e` in
/// `(0, 1]`; the caller knows `w` better than `1 - e` in f32 could be.
#[inline(always)]
pub(super) fn improve<const FMA: bool>(start: f32, m: f32, w: f32) -> Approx {
    let e = 1.0 - w;
    let near = Near::at::<FMA>(start);

    // f(E) = E - e sin E - m and its first two derivatives. Written with w, E - sin E and 1 - cos E
    // none of them cancels where e is near 1 and E near 0.
    let f0 = fma::<FMA, _>(e, near.lag, fma::<FMA, _>(w, start, -m));
    let f1 = fma::<FMA, _>(e, near.versine, w);
    let f2 = e * near.sin;
    let inverse = 1.0 / f1;
    let slope = f2 * inverse;
    let newton = -f0 * inverse;
    let step = newton * fma::<FMA, _>(-0.5 * newton, slope, 1.0);

    let half = 0.5 * step;
    // sin(step); the step is below 0.01.
    let bend = step * fma::<FMA, _>(step * step, -1.0 / 6.0, 1.0);
    // f1 has changed by this part of itself.
    let change = step * fma::<FMA, _>(e * half * inverse, near.cos, slope);
    Approx {
        anomaly: start + step,
        inverse: inverse * fma::<FMA, _>(change, change - 1.0, 1.0),
        sin: near.sin + fma::<FMA, _>(near.cos, bend, -(near.sin * step * half)),
        cos: near.cos - fma::<FMA, _>(near.sin, bend, near.cos * step * half),
    }
}

/// Mikkola's starter, in an order in which nothing cancels and nothing that matters underflows.
#[inline(always)]
pub(super) fn starter<const FMA: bool>(m: f32, w: f32) -> f32 {
    let e = 1.0 - w;
    let u = fma::<FMA, _>(-4.0, w, 4.5);
    let both = 1.0 / (w * u);
    let inverse_u = w * both;
    let alpha = w * inverse_u;
    let beta = 0.5 * m * inverse_u;
    let ratio = 0.5 * m * (u * both); // beta / alpha
                                      // z³ = beta + sqrt(alpha³ + beta²)
    let cube = fma::<FMA, _>(alpha, fma::<FMA, _>(ratio, ratio, alpha).sqrt(), beta);
    let inverse_z = inverse_cbrt::<FMA>(cube);
    let z = cube * inverse_z * inverse_z;
    let over = alpha * inverse_z;
    // s = z - alpha / z
    let s = 2.0 * beta / fma::<FMA, _>(z, z, fma::<FMA, _>(over, over, alpha));
    let s2 = s * s;
    // 0.078 s⁵ / (1 + e) in Mikkola's paper; the straight line does as well.
    let s = fma::<FMA, _>(fma::<FMA, _>(0.026, e, -0.065) * s, s2 * s2, s);
    fma::<FMA, _>(e * s, fma::<FMA, _>(-4.0 * s, s, 3.0), m)
}

/// `1 / cbrt(x)` for normal `x > 0`, relative error 2.2e-4.
#[inline(always)]
fn inverse_cbrt<const FMA: bool>(x: f32) -> f32 {
    // Dividing the bits by -3 divides the exponent: 3.5 % off. 5461 / 2¹⁴ is 1/3 without a division
    // of integers.
    let y = f32::from_bits(0x54a1_8000_u32.wrapping_sub((x.to_bits() >> 14).wrapping_mul(5461)));
    let h = fma::<FMA, _>(-x * y, y * y, 1.0);
    fma::<FMA, _>(y * h, fma::<FMA, _>(h, 2.0 / 9.0, 1.0 / 3.0), y)
}

/// Sine and cosine, and what is left of them for small angles.
struct Near {
    sin: f32,
    cos: f32,
    /// `x - sin x`.
    lag: f32,
    /// `1 - cos x`.
    versine: f32,
}

impl Near {
    /// At `x` in about `[0, π]`. Minimax polynomials about the nearest of 0, π/2 and π.
    #[inline(always)]
    fn at<const FMA: bool>(x: f32) -> Near {
        const ROUND: f32 = 12_582_912.0; // 1.5 * 2²³: adding it rounds to an integer
        let shifted = fma::<FMA, _>(x, std::f32::consts::FRAC_2_PI, ROUND);
        let quadrant = shifted - ROUND;
        let bits = shifted.to_bits();
        let r = fma::<FMA, _>(quadrant, -std::f32::consts::FRAC_PI_2, x);
        let r = fma::<FMA, _>(quadrant, 4.371_139e-8, r);
        let r2 = r * r;
        let p = fma::<FMA, _>(r2, 2.724_939e-6, -1.984_008_3e-4);
        let p = fma::<FMA, _>(r2, p, 8.333_332e-3);
        let p = fma::<FMA, _>(r2, p, -0.166_666_67);
        let q = fma::<FMA, _>(r2, 2.454_750_8e-5, -1.388_830_1e-3);
        let q = fma::<FMA, _>(r2, q, 4.166_666_5e-2);
        let cubic = r * r2 * p;
        let sin = r + cubic;
        let versine = fma::<FMA, _>(-r2 * r2, q, 0.5 * r2);
        let cos = 1.0 - versine;

        let swap = bits & 1 != 0;
        let sin_sign = (bits & 2) << 30;
        let cos_sign = (bits.wrapping_add(1) & 2) << 30;
        let full_sin = f32::from_bits(if swap { cos } else { sin }.to_bits() ^ sin_sign);
        let full_cos = f32::from_bits(if swap { sin } else { cos }.to_bits() ^ cos_sign);
        let first = quadrant == 0.0;
        Near {
            sin: full_sin,
            cos: full_cos,
            lag: if first {
                -cubic
            } else if swap {
                // sin x = cos r = 1 - versine. Where e is near 1 an error here is tripled.
                (x - 1.0) + versine
            } else {
                x - full_sin
            },
            versine: if first { versine } else { 1.0 - full_cos },
        }
    }
}
