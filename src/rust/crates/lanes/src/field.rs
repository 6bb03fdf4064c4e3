//! Real or complex numbers, one to a lane: what a factorisation computes with that is there for both.

use super::lanes::{Float, Lanes};
use std::ops::{Add, Neg, Sub};

/// Arithmetic that rounds as [`Lanes`] say.
pub trait Field: Copy + Add<Output = Self> + Sub<Output = Self> + Neg<Output = Self> {
    /// A part of each.
    type Real: Lanes;
    /// How many parts each has.
    const PARTS: usize;

    /// Numbers without an imaginary part.
    fn of(real: Self::Real) -> Self;
    /// One number in all lanes, from its parts.
    fn all(any: Self::Real, parts: &[<Self::Real as Lanes>::Float]) -> Self;
    /// The real parts.
    fn re(self) -> Self::Real;
    /// The conjugates.
    fn conj(self) -> Self;
    /// The sum of the parts' absolute values.
    fn size(self) -> Self::Real;
    /// Each times a real number.
    fn times(self, factor: Self::Real) -> Self;
    /// Each divided by a real number.
    fn per(self, divisor: Self::Real) -> Self;
    /// `self * b`.
    fn by(self, b: Self) -> Self;
    /// `self - a * b`.
    fn less_product(self, a: Self, b: Self) -> Self;
    /// `self + a * b`.
    fn plus_product(self, a: Self, b: Self) -> Self;
    /// `self + conj(a) * b`.
    fn plus_inner(self, a: Self, b: Self) -> Self;
    /// The square of the absolute value, plus `more`.
    fn square(self, more: Self::Real) -> Self::Real;
    /// The absolute value of the imaginary part.
    fn imaginary_size(self) -> Self::Real;
    /// 1 over each, which is not 0; infinite where that is.
    fn reciprocal(self) -> Self;
    /// `self / b`, right also where the reciprocal of `b` is infinite.
    fn over(self, b: Self) -> Self;
    /// `yes` where `a < b`, else `no`.
    fn if_less(a: Self::Real, b: Self::Real, yes: Self, no: Self) -> Self;
    /// `yes` where `a == b`, else `no`.
    fn if_equal(a: Self::Real, b: Self::Real, yes: Self, no: Self) -> Self;
    /// Exchanges two of the numbers in one lane.
    fn exchange(numbers: &mut [Self], lane: usize, a: usize, b: usize);
    /// The numbers of which these are the parts, as they stand in memory.
    fn numbers(parts: &mut [Self::Real]) -> &mut [Self];
    /// The parts of each, one after the other.
    fn parts(numbers: &mut [Self]) -> &mut [Self::Real];
}

/// Numbers whose parts are floating-point numbers of that kind.
pub trait FieldOf<R>: Field<Real: Lanes<Float = R>> {}

impl<R, F: Field<Real: Lanes<Float = R>>> FieldOf<R> for F {}

impl<V: Lanes> Field for V {
    type Real = V;
    const PARTS: usize = 1;

    #[inline(always)]
    fn of(real: V) -> V {
        real
    }
    #[inline(always)]
    fn all(any: V, parts: &[V::Float]) -> V {
        any.like(parts[0].f64())
    }
    #[inline(always)]
    fn re(self) -> V {
        self
    }
    #[inline(always)]
    fn conj(self) -> V {
        self
    }
    #[inline(always)]
    fn size(self) -> V {
        self.abs()
    }
    #[inline(always)]
    fn times(self, factor: V) -> V {
        self * factor
    }
    #[inline(always)]
    fn per(self, divisor: V) -> V {
        self / divisor
    }
    #[inline(always)]
    fn by(self, b: V) -> V {
        self * b
    }
    #[inline(always)]
    fn less_product(self, a: V, b: V) -> V {
        a.neg_mul_add(b, self)
    }
    #[inline(always)]
    fn plus_product(self, a: V, b: V) -> V {
        a.mul_add(b, self)
    }
    #[inline(always)]
    fn plus_inner(self, a: V, b: V) -> V {
        a.mul_add(b, self)
    }
    #[inline(always)]
    fn square(self, more: V) -> V {
        self.mul_add(self, more)
    }
    #[inline(always)]
    fn imaginary_size(self) -> V {
        self.like(0.0)
    }
    #[inline(always)]
    fn reciprocal(self) -> V {
        self.like(1.0) / self
    }
    #[inline(always)]
    fn over(self, b: V) -> V {
        self / b
    }
    #[inline(always)]
    fn if_less(a: V, b: V, yes: V, no: V) -> V {
        a.if_less(b, yes, no)
    }
    #[inline(always)]
    fn if_equal(a: V, b: V, yes: V, no: V) -> V {
        a.if_equal(b, yes, no)
    }
    #[inline(always)]
    fn exchange(numbers: &mut [V], lane: usize, a: usize, b: usize) {
        let (x, y) = (numbers[a].as_slice()[lane], numbers[b].as_slice()[lane]);
        numbers[a].as_mut_slice()[lane] = y;
        numbers[b].as_mut_slice()[lane] = x;
    }
    #[inline(always)]
    fn numbers(parts: &mut [V]) -> &mut [V] {
        parts
    }
    #[inline(always)]
    fn parts(numbers: &mut [V]) -> &mut [V] {
        numbers
    }
}
