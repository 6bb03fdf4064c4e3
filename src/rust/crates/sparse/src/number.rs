//! What a factorisation computes with.

use std::ops::{Add, Mul, Neg, Sub};

/// Numbers, or what is computed with like numbers.
pub trait Number:
    Copy
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// No number.
    const NAN: Self;
    /// Of how many floating-point numbers it consists.
    const LEN: usize;

    /// Whether it can be a pivot: positive and finite.
    fn is_pivot(self) -> bool;
    /// The square root of a pivot.
    fn sqrt(self) -> Self;
    /// 1 divided by it.
    fn recip(self) -> Self;
    /// `self * b + c`; if `FMA`, products are added without being rounded.
    fn mul_add<const FMA: bool>(self, b: Self, c: Self) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const ZERO: Self = 0.0;
            const NAN: Self = <$number>::NAN;
            const LEN: usize = 1;

            #[inline(always)]
            fn is_pivot(self) -> bool {
                self > 0.0 && self < <$number>::INFINITY
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                <$number>::sqrt(self)
            }

            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }

            #[inline(always)]
            fn mul_add<const FMA: bool>(self, b: Self, c: Self) -> Self {
                if FMA {
                    <$number>::mul_add(self, b, c)
                } else {
                    self * b + c
                }
            }
        }
    )*};
}
numbers! { f32 f64 }
