//! Numbers with their mixed derivatives in up to four directions: polynomials in `e1`, …, `ek` with `ei² = 0`.

use std::ops::{Add, Mul, Neg, Sub};

use crate::scalar::Scalar;

/// A polynomial of `M = 2ᵏ` coefficients: that of the product of some `ei` is at the index that has their bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<T, const M: usize>(pub [T; M]);

impl<T: Scalar, const M: usize> Add for Jet<T, M> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Jet(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl<T: Scalar, const M: usize> Sub for Jet<T, M> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Jet(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl<T: Scalar, const M: usize> Neg for Jet<T, M> {
    type Output = Self;

    fn neg(self) -> Self {
        Jet(self.0.map(|x| -x))
    }
}

impl<T: Scalar, const M: usize> Mul for Jet<T, M> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let mut product = [T::ZERO; M];
        for (i, sum) in product.iter_mut().enumerate() {
            for part in (0..=i).filter(|part| part & !i == 0) {
                *sum = *sum + self.0[part] * other.0[i ^ part];
            }
        }
        Jet(product)
    }
}

impl<T: Scalar, const M: usize> Scalar for Jet<T, M> {
    const ZERO: Self = Jet([T::ZERO; M]);
    const NAN: Self = Jet([T::NAN; M]);

    fn is_pivot(self) -> bool {
        self.0[0].is_pivot()
    }

    fn sqrt(self) -> Self {
        let mut root = [T::ZERO; M];
        root[0] = self.0[0].sqrt();
        let factor = (root[0] + root[0]).recip();
        for i in 1..M {
            let mut rest = self.0[i];
            for part in (1..i).filter(|part| part & !i == 0) {
                rest = rest - root[part] * root[i ^ part];
            }
            root[i] = rest * factor;
        }
        Jet(root)
    }

    fn recip(self) -> Self {
        let mut inverse = [T::ZERO; M];
        inverse[0] = self.0[0].recip();
        for i in 1..M {
            let mut sum = T::ZERO;
            for part in (1..=i).filter(|part| part & !i == 0) {
                sum = sum + self.0[part] * inverse[i ^ part];
            }
            inverse[i] = -(sum * inverse[0]);
        }
        Jet(inverse)
    }
}
