//! The element types of linear algebra.

use num_complex::Complex;

/// A number: f32, f64, c64 or c128.
pub trait Element: Copy + Send + Sync + 'static {
    /// Itself, or the type of its parts.
    type Real: Element<Real = Self::Real, Complex = Self::Complex>;
    /// Itself, or the type whose parts it is.
    type Complex: Element<Real = Self::Real, Complex = Self::Complex>;

    /// Whether it has two parts.
    const COMPLEX: bool;
    /// What a matrix is filled with that could not be computed.
    const NAN: Self;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Below this a reciprocal may overflow, or a difference may have lost digits.
    const TINY: f64;

    /// The real part.
    fn re_f64(self) -> f64;
    /// The imaginary part.
    fn im_f64(self) -> f64;
    /// The complex number of these parts; a complex number is itself.
    fn with_imaginary(self, imaginary: Self) -> Self::Complex;
    /// The number with the opposite imaginary part.
    fn conjugate(self) -> Self;
    /// Whether the value is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The magnitude, of the larger part of a complex number.
    fn magnitude(self) -> f64;
    /// The value times a power of 2.
    fn times(self, power: f64) -> Self;
}

macro_rules! elements {
    ($($real:ident)*) => {$(
        impl Element for $real {
            type Real = $real;
            type Complex = Complex<$real>;
            const COMPLEX: bool = false;
            const NAN: Self = $real::NAN;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TINY: f64 = $real::MIN_POSITIVE as f64 / $real::EPSILON as f64;

            #[inline]
            fn re_f64(self) -> f64 {
                self.into()
            }
            #[inline]
            fn im_f64(self) -> f64 {
                0.0
            }
            #[inline]
            fn with_imaginary(self, imaginary: Self) -> Complex<$real> {
                Complex::new(self, imaginary)
            }
            #[inline]
            fn conjugate(self) -> Self {
                self
            }
            #[inline]
            fn is_finite(self) -> bool {
                $real::is_finite(self)
            }
            #[inline]
            fn magnitude(self) -> f64 {
                self.abs().into()
            }
            #[inline]
            fn times(self, power: f64) -> Self {
                (f64::from(self) * power) as $real
            }
        }

        impl Element for Complex<$real> {
            type Real = $real;
            type Complex = Self;
            const COMPLEX: bool = true;
            const NAN: Self = Complex::new($real::NAN, $real::NAN);
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const TINY: f64 = $real::TINY;

            #[inline]
            fn re_f64(self) -> f64 {
                self.re.into()
            }
            #[inline]
            fn im_f64(self) -> f64 {
                self.im.into()
            }
            #[inline]
            fn with_imaginary(self, _: Self) -> Self {
                self
            }
            #[inline]
            fn conjugate(self) -> Self {
                self.conj()
            }
            #[inline]
            fn is_finite(self) -> bool {
                self.re.is_finite() & self.im.is_finite()
            }
            #[inline]
            fn magnitude(self) -> f64 {
                self.re.magnitude().max(self.im.magnitude())
            }
            #[inline]
            fn times(self, power: f64) -> Self {
                Complex::new(self.re.times(power), self.im.times(power))
            }
        }
    )*};
}
elements!(f32 f64);
