//! Arithmetic that both precisions share.

use std::ops::{Add, Mul, Neg, Sub};

/// f32 and f64.
pub(super) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    const NAN: Self;

    /// `self * b + c` with one rounding.
    fn fused(self, b: Self, c: Self) -> Self;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Real for $t {
            const ZERO: $t = 0.0;
            const HALF: $t = 0.5;
            const ONE: $t = 1.0;
            const NAN: $t = <$t>::NAN;

            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    )*};
}

real!(f32 f64);

/// `a * b + c`, fused where the processor can: elsewhere that would be a slow call.
#[inline(always)]
pub(super) fn fma<const FMA: bool, T: Real>(a: T, b: T, c: T) -> T {
    if FMA {
        a.fused(b, c)
    } else {
        a * b + c
    }
}

/// Up to this `|m|` [`wrap`] works.
pub(super) const fn wrap_limit(fma: bool) -> f64 {
    if fma {
        1e14
    } else {
        2.5e7
    }
}

/// `m` less the nearest multiple of 2π, rounded once.
#[inline(always)]
pub(super) fn wrap<const FMA: bool>(m: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2⁵²: adding it rounds to an integer
    const TAU_REST: f64 = 2.449_293_598_294_706_4e-16; // 2π less its f64
    let n = fma::<FMA, f64>(m, 1.0 / std::f64::consts::TAU, ROUND) - ROUND;
    let rest = if FMA {
        // Exact: a multiple of the last bit of 2π, below 4.
        n.mul_add(-std::f64::consts::TAU, m)
    } else {
        // 2π in two parts, so that with n below 2²² both products are exact.
        m - n * 6.283_185_306_936_502_5 - n * 2.430_837_753_308_879e-10
    };
    fma::<FMA, f64>(n, -TAU_REST, rest)
}

/// As [`wrap`], for any finite `m`: slower, by the C library's argument reduction.
#[cold]
pub(super) fn wrap_far(m: f64) -> f64 {
    let (sin, cos) = m.sin_cos();
    sin.atan2(cos)
}
