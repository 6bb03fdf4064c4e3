//! What f64 has in the standard library and not in `core`: for GPUs, where there is no standard library. By `libm`,
//! whose functions are good to one unit in the last place.

pub(crate) use crate::number::Number as _;

pub(crate) trait Elementary: Sized {
    fn floor(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn rem_euclid(self, other: Self) -> Self;
    fn powi(self, power: i32) -> Self;
    fn sin(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn tan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
}

impl Elementary for f64 {
    fn floor(self) -> f64 {
        libm::floor(self)
    }
    fn round(self) -> f64 {
        libm::round(self)
    }
    fn round_ties_even(self) -> f64 {
        libm::rint(self)
    }
    fn rem_euclid(self, other: f64) -> f64 {
        let rest = libm::fmod(self, other);
        if rest < 0.0 {
            rest + other.abs()
        } else {
            rest
        }
    }
    fn powi(self, power: i32) -> f64 {
        libm::pow(self, f64::from(power))
    }
    fn sin(self) -> f64 {
        libm::sin(self)
    }
    fn sin_cos(self) -> (f64, f64) {
        libm::sincos(self)
    }
    fn tan(self) -> f64 {
        libm::tan(self)
    }
    fn sinh(self) -> f64 {
        libm::sinh(self)
    }
    fn cosh(self) -> f64 {
        libm::cosh(self)
    }
}
