//! Numbers that carry derivatives: an algorithm written once over [`Number`] gives the function, and
//! over [`Dual`] its derivatives in the parameters, with the same care for digits.

use std::ops::{Add, Div, Mul, Neg, Sub};

pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    fn constant(value: f64) -> Self;
    fn value(self) -> f64;
    /// All parts are within `eps` of their place beside those of `sum`: a series may end.
    fn is_negligible(self, sum: Self, eps: f64) -> bool;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn exp(self) -> Self;
    fn exp_m1(self) -> Self;
    fn sqrt(self) -> Self;
    /// The logarithm of the gamma function (`n = 0`) or its `n`-th derivative.
    fn lgamma_derivative(self, n: u32) -> Self;
    /// `exp(x^2) erfc(x)` below `erf::FAR`, where it has no series of its own.
    fn erfcx_near(self) -> Self;

    /// `x (a + b) - a` with one rounding; `y = 1 - x`, of which the smaller one is exact.
    fn excess(a: Self, b: Self, x: f64, y: f64) -> Self;

    fn lgamma(self) -> Self {
        self.lgamma_derivative(0)
    }

    fn recip(self) -> Self {
        Self::constant(1.0) / self
    }
}

/// A value and its derivative in one direction. Of duals again: second derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual<T> {
    pub(crate) value: T,
    pub(crate) slope: T,
}

impl<T: Number> Dual<T> {
    /// The variable that is differentiated.
    pub(crate) fn variable(value: T) -> Self {
        let slope = T::constant(1.0);
        Dual { value, slope }
    }

    pub(crate) fn fixed(value: T) -> Self {
        let slope = T::constant(0.0);
        Dual { value, slope }
    }

    fn chain(self, value: T, slope: T) -> Self {
        let slope = slope * self.slope;
        Dual { value, slope }
    }
}

impl<T: Number> Add for Dual<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let slope = self.slope + other.slope;
        Dual {
            value: self.value + other.value,
            slope,
        }
    }
}

impl<T: Number> Sub for Dual<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        let slope = self.slope - other.slope;
        Dual {
            value: self.value - other.value,
            slope,
        }
    }
}

impl<T: Number> Mul for Dual<T> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let slope = self.slope * other.value + self.value * other.slope;
        Dual {
            value: self.value * other.value,
            slope,
        }
    }
}

impl<T: Number> Div for Dual<T> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let slope = (self.slope - value * other.slope) / other.value;
        Dual { value, slope }
    }
}

impl<T: Number> Neg for Dual<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Dual {
            value: -self.value,
            slope: -self.slope,
        }
    }
}

impl<T: Number> Add<f64> for Dual<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        Dual {
            value: self.value + other,
            slope: self.slope,
        }
    }
}

impl<T: Number> Sub<f64> for Dual<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        self + -other
    }
}

impl<T: Number> Mul<f64> for Dual<T> {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        Dual {
            value: self.value * other,
            slope: self.slope * other,
        }
    }
}

impl<T: Number> Div<f64> for Dual<T> {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        Dual {
            value: self.value / other,
            slope: self.slope / other,
        }
    }
}

impl<T: Number> Number for Dual<T> {
    fn constant(value: f64) -> Self {
        Dual::fixed(T::constant(value))
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn is_negligible(self, sum: Self, eps: f64) -> bool {
        self.value.is_negligible(sum.value, eps) && self.slope.is_negligible(sum.slope, eps)
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    fn ln_1p(self) -> Self {
        self.chain(self.value.ln_1p(), (self.value + 1.0).recip())
    }
    fn exp(self) -> Self {
        let value = self.value.exp();
        self.chain(value, value)
    }
    fn exp_m1(self) -> Self {
        self.chain(self.value.exp_m1(), self.value.exp())
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, (root * 2.0).recip())
    }
    fn lgamma_derivative(self, n: u32) -> Self {
        let slope = self.value.lgamma_derivative(n + 1);
        self.chain(self.value.lgamma_derivative(n), slope)
    }
    fn erfcx_near(self) -> Self {
        let value = self.value.erfcx_near();
        let slope = self.value * value * 2.0 - std::f64::consts::FRAC_2_SQRT_PI;
        self.chain(value, slope)
    }
    fn excess(a: Self, b: Self, x: f64, y: f64) -> Self {
        let slope = if x <= 0.5 {
            (a.slope + b.slope) * x - a.slope
        } else {
            b.slope - (a.slope + b.slope) * y
        };
        let value = T::excess(a.value, b.value, x, y);
        Dual { value, slope }
    }
}
