//! f64 as a [`Number`].

use crate::number::Number;
use crate::{erf, gamma, zeta};

/// Methods that f64 has itself.
macro_rules! of_the_type {
    ($($name:ident)*) => {$(
        #[inline]
        fn $name(self) -> Self {
            f64::$name(self)
        }
    )*};
}

impl Number for f64 {
    #[inline]
    fn constant(value: f64) -> Self {
        value
    }
    #[inline]
    fn value(self) -> f64 {
        self
    }
    #[inline]
    fn is_negligible(self, sum: Self, eps: f64) -> bool {
        self.abs() <= eps * sum.abs()
    }
    of_the_type!(ln ln_1p exp exp_m1 sqrt);
    fn lgamma_derivative(self, n: u32) -> Self {
        match n {
            0 => gamma::lgamma(self),
            _ => zeta::polygamma(f64::from(n - 1), self),
        }
    }
    fn erfcx_near(self) -> Self {
        erf::erfcx_near(self)
    }
    fn excess(a: Self, b: Self, x: f64, y: f64) -> Self {
        let sum = a + b;
        let (large, small) = if a > b { (a, b) } else { (b, a) };
        let missed = small - (sum - large);
        if x <= 0.5 {
            libm::fma(x, sum, -a) + x * missed
        } else {
            libm::fma(-y, sum, b) - y * missed
        }
    }
}
