//! f64 as a [`Number`].

use crate::number::Number;
use crate::{erf, gamma, zeta};

/// Methods that f64 has itself, or on a GPU `libm` for it.
macro_rules! of_the_type {
    ($($name:ident: $in_libm:ident,)*) => {$(
        #[inline]
        fn $name(self) -> Self {
            #[cfg(not(target_arch = "nvptx64"))]
            return f64::$name(self);
            #[cfg(target_arch = "nvptx64")]
            return libm::$in_libm(self);
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
    of_the_type!(ln: log, ln_1p: log1p, exp: exp, exp_m1: expm1, sqrt: sqrt,);
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
