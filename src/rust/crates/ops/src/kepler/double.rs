//! Kepler's equation in f64, one point: a solution in f32, then one step of fourth order.

use super::arith::fma;

/// `(sin E, cos E)` for `m` in `[0, π]`, `w = 1 - e` in `(0, 1]`, and from [`super::single`] an `E`
/// that is good to f32 and an approximate `1 / (1 - e cos E)`.
#[inline(always)]
pub(super) fn finish<const FMA: bool>(m: f64, e: f64, anomaly: f32, inverse: f32) -> (f64, f64) {
    let (x, w) = (f64::from(anomaly), 1.0 - e);
    let near = Near::at::<FMA>(x);
    let f0 = fma::<FMA, _>(e, near.lag, fma::<FMA, _>(w, x, -m));
    let f1 = fma::<FMA, _>(e, near.versine, w);
    // Newton's method for 1 / f1: a division would take longer. Twice, for where f32 has no
    // solution because m underflows, and the whole of E comes from this step.
    let g = f64::from(inverse);
    let g = fma::<FMA, _>(fma::<FMA, _>(-f1, g, 1.0), g, g);
    let g = fma::<FMA, _>(fma::<FMA, _>(-f1, g, 1.0), g, g);
    // With u = -f/f', t = u f''/(2 f'), k = u² f'''/(6 f'): step = u (1 - t + 2 t² - k + …).
    let u = -f0 * g;
    let ug = u * g * e;
    let t = 0.5 * near.sin * ug;
    let k = near.cos * (1.0 / 6.0) * (ug * u);
    let series = fma::<FMA, _>(t, fma::<FMA, _>(2.0, t, -1.0), -k);
    let step = fma::<FMA, _>(u, series, u);
    // The step is below 1e-6: its cube does not show.
    let half = 0.5 * step;
    let sin = fma::<FMA, _>(step, fma::<FMA, _>(-half, near.sin, near.cos), near.sin);
    let cos = fma::<FMA, _>(-step, fma::<FMA, _>(half, near.cos, near.sin), near.cos);
    (sin, cos)
}

/// Sine and cosine, and what is left of them for small angles.
struct Near {
    sin: f64,
    cos: f64,
    /// `x - sin x`.
    lag: f64,
    /// `1 - cos x`.
    versine: f64,
}

impl Near {
    /// At `x` in about `[0, π]` with at most 24 bits. Minimax polynomials about the nearest of 0,
    /// π/2 and π.
    #[inline(always)]
    fn at<const FMA: bool>(x: f64) -> Near {
        const PI_2_REST: f64 = 6.123_233_995_736_766e-17; // π/2 less its f64
        const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2⁵²: adding it rounds to an integer
        let shifted = fma::<FMA, _>(x, std::f64::consts::FRAC_2_PI, ROUND);
        let quadrant = shifted - ROUND;
        let bits = shifted.to_bits();
        let exact = fma::<FMA, _>(quadrant, -std::f64::consts::FRAC_PI_2, x);
        let r = fma::<FMA, _>(quadrant, -PI_2_REST, exact);
        let lost = fma::<FMA, _>(quadrant, -PI_2_REST, exact - r);
        let r2 = r * r;
        let p = fma::<FMA, _>(r2, 1.591_786_185_240_700_8e-10, -2.505_112_814_996_084e-8);
        let p = fma::<FMA, _>(r2, p, 2.755_731_608_492_992_6e-6);
        let p = fma::<FMA, _>(r2, p, -1.984_126_983_672_487_7e-4);
        let p = fma::<FMA, _>(r2, p, 8.333_333_333_330_926e-3);
        let p = fma::<FMA, _>(r2, p, -0.166_666_666_666_666_65);
        let q = fma::<FMA, _>(r2, -1.138_246_418_417_543e-11, 2.087_614_394_248_855e-9);
        let q = fma::<FMA, _>(r2, q, -2.755_731_726_062_792e-7);
        let q = fma::<FMA, _>(r2, q, 2.480_158_729_874_443_7e-5);
        let q = fma::<FMA, _>(r2, q, -1.388_888_888_888_738_3e-3);
        let q = fma::<FMA, _>(r2, q, 4.166_666_666_666_666_5e-2);
        let cubic = r * r2 * p;
        let sin = r + cubic;
        let versine = fma::<FMA, _>(-r2 * r2, q, 0.5 * r2);
        let cos = 1.0 - versine;

        let swap = bits & 1 != 0;
        let sin_sign = (bits & 2) << 62;
        let cos_sign = (bits.wrapping_add(1) & 2) << 62;
        let full_sin = f64::from_bits(if swap { cos } else { sin }.to_bits() ^ sin_sign);
        let full_cos = f64::from_bits(if swap { sin } else { cos }.to_bits() ^ cos_sign);
        let first = quadrant == 0.0;
        Near {
            sin: full_sin,
            cos: full_cos,
            lag: if first {
                -cubic
            } else if swap {
                // sin x = cos r = 1 - versine. Where e is near 1 an error here is tripled.
                (x - 1.0) + fma::<FMA, _>(lost, sin, versine)
            } else {
                x - full_sin
            },
            versine: if first { versine } else { 1.0 - full_cos },
        }
    }
}
