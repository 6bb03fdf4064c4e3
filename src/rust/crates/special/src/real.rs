//! f64 as a [`Number`].

use crate::number::Number;
use crate::{erf, gamma, zeta};

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
    #[inline]
    fn ln(self) -> Self {
        self.ln()
    }
    #[inline]
    fn ln_1p(self) -> Self {
        self.ln_1p()
    }
    #[inline]
    fn exp(self) -> Self {
        self.exp()
    }
    #[inline]
    fn exp_m1(self) -> Self {
        self.exp_m1()
    }
    #[inline]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
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
