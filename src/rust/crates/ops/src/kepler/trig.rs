//! Sine and cosine, and what is left of them for small angles, in both precisions.

use super::arith::{fma, Real};

/// A precision with its constants.
pub(super) trait Trig: Real {
    /// π/2, and what is missing from it.
    const PI_2: (Self, Self);
    /// π, and what is missing from it.
    const PI: (Self, Self);
    /// π/4.
    const FIRST: Self;
    /// 3π/4.
    const LAST: Self;

    /// `(sin r - r) / r³` for `|r| < π/4`, from `r²`: minimax.
    fn sin_tail<const FMA: bool>(r2: Self) -> Self;

    /// `(cos r - 1 + r²/2) / r⁴` for `|r| < π/4`, from `r²`: minimax.
    fn cos_tail<const FMA: bool>(r2: Self) -> Self;
}

/// A polynomial in `x`; the highest coefficient first.
#[inline(always)]
fn polynomial<const FMA: bool, T: Real, const N: usize>(x: T, coefficients: [T; N]) -> T {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = fma::<FMA, T>(x, sum, coefficient);
    }
    sum
}

/// One precision: its name as a module and a type, π's missing part, and the two polynomials.
macro_rules! trig {
    ($t:ident, $missing:expr, $sin:expr, $cos:expr) => {
        impl Trig for $t {
            const PI_2: ($t, $t) = (std::$t::consts::FRAC_PI_2, $missing / 2.0);
            const PI: ($t, $t) = (std::$t::consts::PI, $missing);
            const FIRST: $t = std::$t::consts::FRAC_PI_4;
            const LAST: $t = 3.0 * std::$t::consts::FRAC_PI_4;

            #[inline(always)]
            fn sin_tail<const FMA: bool>(r2: $t) -> $t {
                polynomial::<FMA, $t, { $sin.len() }>(r2, $sin)
            }

            #[inline(always)]
            fn cos_tail<const FMA: bool>(r2: $t) -> $t {
                polynomial::<FMA, $t, { $cos.len() }>(r2, $cos)
            }
        }
    };
}

trig!(
    f32,
    -8.742_278e-8,
    [2.724_939e-6, -1.984_008_3e-4, 8.333_332e-3, -0.166_666_67],
    [2.454_750_8e-5, -1.388_830_1e-3, 4.166_666_5e-2]
);
trig!(
    f64,
    1.224_646_799_147_353_2e-16,
    [
        1.591_786_185_240_700_8e-10,
        -2.505_112_814_996_084e-8,
        2.755_731_608_492_992_6e-6,
        -1.984_126_983_672_487_7e-4,
        8.333_333_333_330_926e-3,
        -0.166_666_666_666_666_65,
    ],
    [
        -1.138_246_418_417_543e-11,
        2.087_614_394_248_855e-9,
        -2.755_731_726_062_792e-7,
        2.480_158_729_874_443_7e-5,
        -1.388_888_888_888_738_3e-3,
        4.166_666_666_666_666_5e-2,
    ]
);

/// Sine and cosine, and what is left of them for small angles.
#[derive(Clone, Copy)]
pub(super) struct Near<T> {
    pub(super) sin: T,
    pub(super) cos: T,
    /// `x - sin x`.
    pub(super) lag: T,
    /// `1 - cos x`.
    pub(super) versine: T,
}

impl<T: Trig> Near<T> {
    /// At `x` in about `[0, π]` with at most 24 bits: its distance to the nearest of 0, π/2 and π
    /// is exact, but for what is missing from the latter two.
    #[inline(always)]
    pub(super) fn at<const FMA: bool>(x: T) -> Near<T> {
        let first = x < T::FIRST;
        let last = x > T::LAST;
        let middle = !first && !last;
        let (centre, missing) = if last { T::PI } else { T::PI_2 };
        let r = if first { x } else { centre - x };
        let missing = if first { T::ZERO } else { missing };

        let r2 = r * r;
        let cubic = r * r2 * T::sin_tail::<FMA>(r2);
        let versine = fma::<FMA, _>(r2 * r2, T::cos_tail::<FMA>(r2), -(T::HALF * r2));
        // What is missing moves the sine by its part of the cosine, and the other way round.
        let near_sin = r + cubic;
        let sin = r + fma::<FMA, _>(missing, T::ONE + versine, cubic);
        let versine = fma::<FMA, _>(missing, near_sin, -versine);
        let cos = T::ONE - versine;

        // sin(π/2 - x) = cos x, sin(π - x) = sin x.
        let (full_sin, full_cos) = if middle { (cos, sin) } else { (sin, cos) };
        let full_cos = if last { -full_cos } else { full_cos };
        // Where e is near 1, an error of the lag is tripled: each third has its own difference.
        let (more, less) = if first {
            (T::ZERO, cubic)
        } else if middle {
            (x - T::ONE, -versine)
        } else {
            (x, sin)
        };
        Near {
            sin: full_sin,
            cos: full_cos,
            lag: more - less,
            versine: if first { versine } else { T::ONE - full_cos },
        }
    }

    /// `x - e sin x - m` and its derivative, `1 - e cos x`; `w = 1 - e`. Written with `w`, the lag
    /// and the versine, neither cancels where e is near 1 and x near 0.
    #[inline(always)]
    pub(super) fn equation<const FMA: bool>(&self, x: T, m: T, e: T, w: T) -> (T, T) {
        let value = fma::<FMA, _>(e, self.lag, fma::<FMA, _>(w, x, -m));
        (value, fma::<FMA, _>(e, self.versine, w))
    }
}
