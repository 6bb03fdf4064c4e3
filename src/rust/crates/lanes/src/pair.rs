//! Complex numbers, one to a lane.

use super::field::Field;
use super::lanes::{Float, Lanes};
use std::ops::{Add, Neg, Sub};

/// Complex numbers. In memory their parts stand as those of a matrix of complex numbers do, which is gathered as one
/// of real ones with twice the rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair<V> {
    pub(crate) re: V,
    pub(crate) im: V,
}

impl<V: Lanes> Pair<V> {
    /// The numbers divided by the larger of their parts, which is the second result, and the squares of what they
    /// are then.
    #[inline(always)]
    pub(crate) fn scaled(self) -> (Self, V, V) {
        let size = self.re.abs().max(self.im.abs());
        let near = Pair {
            re: self.re / size,
            im: self.im / size,
        };
        let square = near.im.mul_add(near.im, near.re * near.re);
        (near, size, square)
    }

    /// `self + re b`.
    #[inline(always)]
    fn plus_real_product(self, re: V, b: Self) -> Self {
        Pair {
            re: re.mul_add(b.re, self.re),
            im: re.mul_add(b.im, self.im),
        }
    }

    /// `self - re b`.
    #[inline(always)]
    fn less_real_product(self, re: V, b: Self) -> Self {
        Pair {
            re: re.neg_mul_add(b.re, self.re),
            im: re.neg_mul_add(b.im, self.im),
        }
    }

    /// `self + i im b`.
    #[inline(always)]
    fn plus_imaginary_product(self, im: V, b: Self) -> Self {
        Pair {
            re: im.neg_mul_add(b.im, self.re),
            im: im.mul_add(b.re, self.im),
        }
    }

    /// `self - i im b`.
    #[inline(always)]
    fn less_imaginary_product(self, im: V, b: Self) -> Self {
        Pair {
            re: im.mul_add(b.im, self.re),
            im: im.neg_mul_add(b.re, self.im),
        }
    }
}

impl<V: Lanes> Add for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Pair {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl<V: Lanes> Sub for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Pair {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl<V: Lanes> Neg for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Pair {
            re: -self.re,
            im: -self.im,
        }
    }
}

impl<V: Lanes> Field for Pair<V> {
    type Real = V;
    const PARTS: usize = 2;

    #[inline(always)]
    fn of(re: V) -> Self {
        Pair {
            re,
            im: re.like(0.0),
        }
    }
    #[inline(always)]
    fn all(any: V, parts: &[V::Float]) -> Self {
        Pair {
            re: any.like(parts[0].f64()),
            im: any.like(parts[1].f64()),
        }
    }
    #[inline(always)]
    fn re(self) -> V {
        self.re
    }
    #[inline(always)]
    fn conj(self) -> Self {
        Pair {
            re: self.re,
            im: -self.im,
        }
    }
    #[inline(always)]
    fn size(self) -> V {
        self.re.abs() + self.im.abs()
    }
    #[inline(always)]
    fn times(self, factor: V) -> Self {
        Pair {
            re: self.re * factor,
            im: self.im * factor,
        }
    }
    #[inline(always)]
    fn per(self, divisor: V) -> Self {
        Pair {
            re: self.re / divisor,
            im: self.im / divisor,
        }
    }
    #[inline(always)]
    fn by(self, b: Self) -> Self {
        Pair {
            re: self.im.neg_mul_add(b.im, self.re * b.re),
            im: self.im.mul_add(b.re, self.re * b.im),
        }
    }
    #[inline(always)]
    fn less_product(self, a: Self, b: Self) -> Self {
        self.less_real_product(a.re, b)
            .less_imaginary_product(a.im, b)
    }
    #[inline(always)]
    fn plus_product(self, a: Self, b: Self) -> Self {
        self.plus_real_product(a.re, b)
            .plus_imaginary_product(a.im, b)
    }
    #[inline(always)]
    fn plus_inner(self, a: Self, b: Self) -> Self {
        self.plus_real_product(a.re, b)
            .less_imaginary_product(a.im, b)
    }
    #[inline(always)]
    fn square(self, more: V) -> V {
        let more = self.re.mul_add(self.re, more);
        self.im.mul_add(self.im, more)
    }
    #[inline(always)]
    fn imaginary_size(self) -> V {
        self.im.abs()
    }
    #[inline(always)]
    fn reciprocal(self) -> Self {
        let (near, size, square) = self.scaled();
        Pair {
            re: near.re / square / size,
            im: -near.im / square / size,
        }
    }
    #[inline(always)]
    fn over(self, b: Self) -> Self {
        let (near, size, square) = b.scaled();
        let product = self.by(near.conj());
        Pair {
            re: product.re / square / size,
            im: product.im / square / size,
        }
    }
    #[inline(always)]
    fn if_less(a: V, b: V, yes: Self, no: Self) -> Self {
        Pair {
            re: a.if_less(b, yes.re, no.re),
            im: a.if_less(b, yes.im, no.im),
        }
    }
    #[inline(always)]
    fn if_equal(a: V, b: V, yes: Self, no: Self) -> Self {
        Pair {
            re: a.if_equal(b, yes.re, no.re),
            im: a.if_equal(b, yes.im, no.im),
        }
    }
    #[inline(always)]
    fn exchange(numbers: &mut [Self], lane: usize, a: usize, b: usize) {
        V::exchange(Self::parts(numbers), lane, 2 * a, 2 * b);
        V::exchange(Self::parts(numbers), lane, 2 * a + 1, 2 * b + 1);
    }
    #[inline(always)]
    fn numbers(parts: &mut [V]) -> &mut [Self] {
        let len = parts.len() / 2;
        // SAFETY: a pair is two vectors, without anything between them, and aligned like one.
        unsafe { std::slice::from_raw_parts_mut(parts.as_mut_ptr().cast(), len) }
    }
    #[inline(always)]
    fn parts(numbers: &mut [Self]) -> &mut [V] {
        let len = numbers.len() * 2;
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), len) }
    }
}
