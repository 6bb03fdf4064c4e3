//! Small matrices, and what is asked of them.

use crate::sys::Routines;
use crate::workspace::{Sizes, Workspace};
use matrices::{Complex, Triangle};
use std::array::from_fn;

pub(super) type C = Complex<f64>;

/// Rows of the matrices.
pub(super) const N: usize = 6;

/// Rounding errors that are allowed, in units of a dtype.
pub(super) const UNITS: f64 = 2000.0;

/// The routine that failed, if one did.
pub(super) type Tries = Result<(), &'static str>;

pub(super) fn is(right: bool, routine: &'static str) -> Tries {
    right.then_some(()).ok_or(routine)
}

/// A dtype and its conversions.
pub(super) trait Tried: Routines {
    const EPSILON: f64;
    fn of(value: C) -> Self;

    fn value(self) -> C {
        C::new(self.re_f64(), self.im_f64())
    }
}

macro_rules! tried {
    ($($real:ident),*) => {$(
        impl Tried for $real {
            const EPSILON: f64 = $real::EPSILON as f64;

            fn of(value: C) -> Self {
                value.re as $real
            }

        }

        impl Tried for Complex<$real> {
            const EPSILON: f64 = $real::EPSILON as f64;

            fn of(value: C) -> Self {
                Complex::new(value.re as $real, value.im as $real)
            }

        }
    )*};
}
tried!(f32, f64);

/// A square matrix, by columns. Its functions are compiled once, not for each use.
#[derive(Clone, Copy)]
pub(super) struct Square(pub(super) [C; N * N]);

impl Square {
    #[inline(never)]
    pub(super) fn of(f: &dyn Fn(usize, usize) -> C) -> Self {
        Square(from_fn(|k| f(k % N, k / N)))
    }

    #[inline(never)]
    pub(super) fn from<T: Tried>(values: &[T; N * N]) -> Self {
        Square(values.map(T::value))
    }

    #[inline(never)]
    pub(super) fn to<T: Tried>(&self) -> [T; N * N] {
        self.0.map(T::of)
    }

    pub(super) fn at(&self, i: usize, j: usize) -> C {
        self.0[i + j * N]
    }

    #[inline(never)]
    pub(super) fn diagonal(values: &[C; N]) -> Self {
        Self::of(&|i, j| if i == j { values[i] } else { C::new(0.0, 0.0) })
    }

    #[inline(never)]
    pub(super) fn identity() -> Self {
        Self::diagonal(&[C::new(1.0, 0.0); N])
    }

    #[inline(never)]
    pub(super) fn times(&self, other: &Self) -> Self {
        Self::of(&|i, j| (0..N).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    #[inline(never)]
    pub(super) fn transposed(&self) -> Self {
        Self::of(&|i, j| self.at(j, i))
    }

    #[inline(never)]
    pub(super) fn adjoint(&self) -> Self {
        Self::of(&|i, j| self.at(j, i).conj())
    }

    pub(super) fn trace(&self) -> C {
        (0..N).map(|i| self.at(i, i)).sum()
    }

    pub(super) fn squares(&self) -> f64 {
        self.0.iter().map(|x| x.norm_sqr()).sum()
    }

    /// The triangle, with ones on the diagonal if `unit`.
    #[inline(never)]
    pub(super) fn triangle(&self, triangle: Triangle, unit: bool) -> Self {
        Self::of(&|i, j| {
            let inside = match triangle {
                Triangle::Lower => i > j,
                Triangle::Upper => i < j,
            };
            match (inside || i == j && !unit, i == j) {
                (true, _) => self.at(i, j),
                (false, true) => C::new(1.0, 0.0),
                (false, false) => C::new(0.0, 0.0),
            }
        })
    }

    /// Whether all elements are those of `other`, up to `units` of rounding.
    #[inline(never)]
    pub(super) fn is(&self, other: &Self, epsilon: f64) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        // A difference that is NaN is not small.
        pairs.all(|(a, b)| (a - b).l1_norm() <= UNITS * epsilon)
    }
}

/// Numbers between -1 and 1 that are not in order.
pub(super) fn number(seed: usize) -> f64 {
    let bits = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as i64 as f64 / i64::MAX as f64
}

pub(super) fn workspace<T: Routines>(
    sizes: Option<Sizes>,
    routine: &'static str,
) -> Result<Workspace<T>, &'static str> {
    let sizes = sizes.ok_or(routine)?;
    Workspace::new(sizes).map_err(|_| routine)
}
