//! In which precision a dtype is computed: its own where LAPACK has it, else the double one.

use super::routines::{Element, Routines};
use super::small::Vectorised;
use std::ops::DerefMut;
use xla_ffi::{Complex, Result, Scalar};

/// A dtype that the CPU ops compute with.
pub trait Precision: Scalar + Vectorised {
    /// What LAPACK works in.
    type Work: Routines;

    /// Itself, or the type of its parts.
    type Real: Precision<Work = <Self::Work as Element>::Real>;

    /// Itself, or the type whose parts it is.
    type Complex: Precision<Work = <Self::Work as Element>::Complex>;

    /// Values in the working precision; when it goes, they are where they came from.
    type Staged<'a>: DerefMut<Target = [Self::Work]>;

    /// What a matrix is filled with that could not be computed.
    const NAN: Self;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// Below this a reciprocal may overflow, or a difference may have lost digits.
    const TINY: f64;

    /// Whether the value is neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// The magnitude, of the larger part of a complex number.
    fn magnitude(self) -> f64;

    /// The value times a power of 2.
    fn times(self, power: f64) -> Self;

    /// The values in the working precision, to be changed in place.
    ///
    /// # Errors
    /// There is no memory for a working copy, where one is needed.
    fn stage(values: &mut [Self]) -> Result<Self::Staged<'_>>;

    /// The values in the working precision, to be read; `copy` is where they are if that is not
    /// their own.
    ///
    /// # Errors
    /// As [`stage`](Precision::stage).
    fn read<'a>(values: &'a [Self], copy: &'a mut Vec<Self::Work>) -> Result<&'a [Self::Work]>;
}

macro_rules! constants {
    (real, $scalar:ident) => {
        type Real = $scalar;
        type Complex = Complex<$scalar>;
        const NAN: Self = $scalar::NAN;
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const TINY: f64 = $scalar::MIN_POSITIVE as f64 / $scalar::EPSILON as f64;

        fn is_finite(self) -> bool {
            $scalar::is_finite(self)
        }

        fn magnitude(self) -> f64 {
            self.abs().into()
        }

        fn times(self, power: f64) -> Self {
            (f64::from(self) * power) as $scalar
        }
    };
    (complex, $part:ident) => {
        type Real = $part;
        type Complex = Self;
        const NAN: Self = Complex::new($part::NAN, $part::NAN);
        const ZERO: Self = Complex::new(0.0, 0.0);
        const ONE: Self = Complex::new(1.0, 0.0);
        const TINY: f64 = $part::TINY;

        fn is_finite(self) -> bool {
            self.re.is_finite() & self.im.is_finite()
        }

        fn magnitude(self) -> f64 {
            self.re.magnitude().max(self.im.magnitude())
        }

        fn times(self, power: f64) -> Self {
            Complex::new(self.re.times(power), self.im.times(power))
        }
    };
}

macro_rules! computed_as_it_is {
    ($scalar:ty, $kind:ident, $part:ident) => {
        impl Precision for $scalar {
            type Work = $scalar;
            type Staged<'a> = &'a mut [$scalar];
            constants!($kind, $part);

            fn stage(values: &mut [Self]) -> Result<&mut [Self]> {
                Ok(values)
            }

            fn read<'a>(values: &'a [Self], _: &'a mut Vec<Self>) -> Result<&'a [Self]> {
                Ok(values)
            }
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
computed_as_it_is!(f32, real, f32);
#[cfg(not(feature = "promote-f32"))]
computed_as_it_is!(Complex<f32>, complex, f32);
computed_as_it_is!(f64, real, f64);
computed_as_it_is!(Complex<f64>, complex, f64);

#[cfg(feature = "promote-f32")]
mod promoted {
    use super::super::workspace::filled;
    use super::*;
    use std::ops::Deref;

    /// A value that is computed in a wider type.
    pub trait Narrow: Precision {
        fn widen(self) -> Self::Work;
        fn narrow(wide: Self::Work) -> Self;
    }

    /// Single-precision values, and a copy in the precision that is worked in.
    pub struct Promoted<'a, T: Narrow> {
        origin: &'a mut [T],
        copy: Vec<T::Work>,
    }

    impl<'a, T: Narrow> Promoted<'a, T> {
        pub(super) fn new(origin: &'a mut [T]) -> Result<Self> {
            let copy = widened(origin)?;
            Ok(Promoted { origin, copy })
        }
    }

    fn widened<T: Narrow>(values: &[T]) -> Result<Vec<T::Work>> {
        let mut copy = filled(values.len(), T::Work::ZERO)?;
        for (to, from) in copy.iter_mut().zip(values) {
            *to = from.widen();
        }
        Ok(copy)
    }

    impl<T: Narrow> Deref for Promoted<'_, T> {
        type Target = [T::Work];

        fn deref(&self) -> &[T::Work] {
            &self.copy
        }
    }

    impl<T: Narrow> DerefMut for Promoted<'_, T> {
        fn deref_mut(&mut self) -> &mut [T::Work] {
            &mut self.copy
        }
    }

    impl<T: Narrow> Drop for Promoted<'_, T> {
        fn drop(&mut self) {
            for (to, &from) in self.origin.iter_mut().zip(&self.copy) {
                *to = T::narrow(from);
            }
        }
    }

    impl Narrow for f32 {
        fn widen(self) -> f64 {
            self.into()
        }

        fn narrow(wide: f64) -> Self {
            wide as f32
        }
    }

    impl Narrow for Complex<f32> {
        fn widen(self) -> Complex<f64> {
            Complex::new(self.re.into(), self.im.into())
        }

        fn narrow(wide: Complex<f64>) -> Self {
            Complex::new(wide.re as f32, wide.im as f32)
        }
    }

    impl Precision for f32 {
        type Work = f64;
        type Staged<'a> = Promoted<'a, f32>;
        constants!(real, f32);

        fn stage(values: &mut [Self]) -> Result<Promoted<'_, Self>> {
            Promoted::new(values)
        }

        fn read<'a>(values: &'a [Self], copy: &'a mut Vec<Self::Work>) -> Result<&'a [Self::Work]> {
            *copy = widened(values)?;
            Ok(copy)
        }
    }

    impl Precision for Complex<f32> {
        type Work = Complex<f64>;
        type Staged<'a> = Promoted<'a, Complex<f32>>;
        constants!(complex, f32);

        fn stage(values: &mut [Self]) -> Result<Promoted<'_, Self>> {
            Promoted::new(values)
        }

        fn read<'a>(values: &'a [Self], copy: &'a mut Vec<Self::Work>) -> Result<&'a [Self::Work]> {
            *copy = widened(values)?;
            Ok(copy)
        }
    }
}
