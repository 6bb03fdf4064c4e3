//! Kepler's equation in f32, one point; also what f64 starts from.
//!
//! 1. [`cubic`] and [`starter`]: S. Mikkola, "A cubic approximation for Kepler's equation",
//!    Celestial Mechanics 40 (1987), 329-334. With `s = sin(E / 3)` the equation is nearly a cubic
//!    in `s`, which has a closed form; a term in `s⁵` corrects it. Relative error at most 1.6e-3,
//!    and far less near the corner `e → 1, M → 0`.
//! 2. [`Step::at`]: Halley's method, as a series. Relative error below 1e-8 before rounding.
//!
//! Straight-line code without branches or calls, so that a loop over it becomes vector code.

use super::arith::fma;
use super::trig::Near;

/// The coefficients of Mikkola's cubic, `s³ + 3 alpha s = 2 beta`, and the cube of
/// `z = (s + sqrt(s² + 4 alpha)) / 2`, for `m` in `[0, π]` and `w = 1 - e` in `(0, 1]`; the caller
/// knows `w` better than `1 - e` in f32 could be.
#[derive(Clone, Copy)]
pub(super) struct Cubic {
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) cube: f32,
}

/// In an order in which nothing cancels and nothing that matters underflows.
#[inline(always)]
pub(super) fn cubic<const FMA: bool>(m: f32, w: f32) -> Cubic {
    let u = fma::<FMA, _>(-4.0, w, 4.5);
    let both = 1.0 / (w * u);
    let inverse_u = w * both;
    let alpha = w * inverse_u;
    let beta = 0.5 * m * inverse_u;
    let ratio = 0.5 * m * (u * both); // beta / alpha
    let root = fma::<FMA, _>(ratio, ratio, alpha).sqrt();
    // z³ = beta + sqrt(alpha³ + beta²)
    let cube = fma::<FMA, _>(alpha, root, beta);
    Cubic { alpha, beta, cube }
}

/// An `E` that is off by at most 1.6e-3 of itself.
#[inline(always)]
pub(super) fn starter<const FMA: bool>(m: f32, w: f32, cubic: Cubic) -> f32 {
    let Cubic { alpha, beta, cube } = cubic;
    let e = 1.0 - w;
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

/// The step from a start to the solution.
pub(super) struct Step {
    near: Near<f32>,
    step: f32,
    /// Half of `e sin E / (1 - e cos E)`.
    bend: f32,
}

impl Step {
    /// From `start`, the result of [`starter`].
    #[inline(always)]
    pub(super) fn at<const FMA: bool>(start: f32, m: f32, w: f32) -> Step {
        let e = 1.0 - w;
        let near = Near::at::<FMA>(start);
        let (f0, f1) = near.equation::<FMA>(start, m, e, w);
        let inverse = 1.0 / f1;
        let bend = 0.5 * e * near.sin * inverse;
        let newton = -f0 * inverse;
        let step = fma::<FMA, _>(-newton * bend, newton, newton);
        Step { near, step, bend }
    }

    /// For [`super::double`]: `E` and the bend, which is that of the start still.
    #[inline(always)]
    pub(super) fn anomaly(self, start: f32) -> (f32, f32) {
        (start + self.step, self.bend)
    }

    /// `(sin E, cos E)`.
    #[inline(always)]
    pub(super) fn sin_cos<const FMA: bool>(self) -> (f32, f32) {
        let Step { near, step, .. } = self;
        // The step is below 0.01.
        let sin = step * fma::<FMA, _>(step * step, -1.0 / 6.0, 1.0);
        let versine = 0.5 * step * step;
        (
            near.sin + fma::<FMA, _>(near.cos, sin, -(near.sin * versine)),
            near.cos - fma::<FMA, _>(near.sin, sin, near.cos * versine),
        )
    }
}
