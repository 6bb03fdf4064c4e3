//! Kepler's equation in f64, one point: a solution in f32, then one more step of Halley's method.

use super::arith::fma;
use super::trig::Near;

/// `(sin E, cos E)` for `m` in `[0, π]`, `e` in `[0, 1)`, and from [`super::single`] an `E` that is
/// good to f32 and half of `e sin E / (1 - e cos E)`, good to 1 %.
#[inline(always)]
pub(super) fn finish<const FMA: bool>(m: f64, e: f64, anomaly: f32, bend: f32) -> (f64, f64) {
    let (x, w) = (f64::from(anomaly), 1.0 - e);
    let near = Near::at::<FMA>(x);
    let (f0, f1) = near.equation::<FMA>(x, m, e, w);
    // Below 1e-6 of E, so that the bend needs few digits. Not where m underflows in f32: there x is
    // next to nothing, the equation is linear, and the whole of E comes from this division.
    let newton = -f0 / f1;
    let step = fma::<FMA, _>(-newton * f64::from(bend), newton, newton);
    // The cube of the step does not show.
    let half = 0.5 * step;
    let sin = fma::<FMA, _>(step, fma::<FMA, _>(-half, near.sin, near.cos), near.sin);
    let cos = fma::<FMA, _>(-step, fma::<FMA, _>(half, near.cos, near.sin), near.cos);
    (sin, cos)
}
