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
    ($($t:ident $fma:ident)*) => {$(
        impl Real for $t {
            const ZERO: $t = 0.0;
            const HALF: $t = 0.5;
            const ONE: $t = 1.0;
            const NAN: $t = <$t>::NAN;

            #[inline(always)]
            #[cfg(not(all(test, windows)))]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            // A test may be where no vector unit was asked for. Windows' C library, which is called then, rounds twice.
            #[cfg(all(test, windows))]
            fn fused(self, b: Self, c: Self) -> Self {
                libm::$fma(self, b, c)
            }
        }
    )*};
}

real!(f32 fmaf f64 fma);

/// `a * b + c`, fused where the processor can: elsewhere that would be a slow call.
#[inline(always)]
pub(super) fn fma<const FMA: bool, T: Real>(a: T, b: T, c: T) -> T {
    if FMA {
        a.fused(b, c)
    } else {
        a * b + c
    }
}
