//! Numbers with their mixed derivatives in up to four directions: polynomials in `e1`, …, `ek` with `ei² = 0`.

use std::collections::TryReserveError;
use std::ops::{Add, Mul, Neg, Sub};

use crate::number::Number;
use crate::scratch::zeros;

/// A polynomial of `M = 2ᵏ` coefficients: that of the product of some `ei` is at the index that has their bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<T, const M: usize>(pub [T; M]);

/// The highest order of a derivative.
pub const HIGHEST_ORDER: usize = 4;

/// `call` with the constant `M`, the coefficients of jets along `count` directions.
macro_rules! along {
    ($count:expr, $m:ident => $call:expr) => {
        $crate::jet::along!(@ $count, $m => $call, 0 1, 1 2, 2 4, 3 8, 4 16)
    };
    (@ $count:expr, $m:ident => $call:expr, $($directions:literal $coefficients:literal),*) => {
        match $count {
            $($directions => {
                const $m: usize = $coefficients;
                $call
            })*
            count => panic!("{count} directions"),
        }
    };
}
pub(crate) use along;

impl<T: Number, const M: usize> Jet<T, M> {
    /// `values + e1 directions[0] + … + ek directions[k - 1]`
    pub fn along(values: &[T], directions: &[&[T]]) -> Result<Vec<Self>, TryReserveError> {
        let mut jets: Vec<Self> = zeros(values.len())?;
        for (at, jet) in jets.iter_mut().enumerate() {
            jet.0[0] = values[at];
            for (bit, direction) in directions.iter().enumerate() {
                jet.0[1 << bit] = direction[at];
            }
        }
        Ok(jets)
    }

    /// Coefficient by coefficient.
    #[inline(always)]
    fn with(mut self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        self
    }
}

impl<T: Number, const M: usize> Add for Jet<T, M> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, Add::add)
    }
}

impl<T: Number, const M: usize> Sub for Jet<T, M> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, Sub::sub)
    }
}

impl<T: Number, const M: usize> Neg for Jet<T, M> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Jet(self.0.map(|x| -x))
    }
}

impl<T: Number, const M: usize> Mul for Jet<T, M> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.mul_add::<false>(other, Self::ZERO)
    }
}

impl<T: Number, const M: usize> Number for Jet<T, M> {
    const ZERO: Self = Jet([T::ZERO; M]);
    const NAN: Self = Jet([T::NAN; M]);
    const LEN: usize = M * T::LEN;

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

    #[inline(always)]
    fn mul_add<const FMA: bool>(self, b: Self, c: Self) -> Self {
        let mut sum = c.0;
        for i in 0..M {
            for j in 0..M {
                if i & j == 0 {
                    sum[i | j] = self.0[i].mul_add::<FMA>(b.0[j], sum[i | j]);
                }
            }
        }
        Jet(sum)
    }
}
