//! In which precision a dtype is computed: its own where LAPACK has it, else the double one.

use crate::error::Result;
use crate::sys::Routines;
use matrices::{Complex, Element};
use std::ops::DerefMut;

/// A dtype that LAPACK computes, perhaps in a wider one.
pub trait Precision: Element {
    /// What LAPACK works in.
    type Work: Routines;

    /// Values in the working precision; when it goes, they are where they came from.
    type Staged<'a>: DerefMut<Target = [Self::Work]>;

    /// The same of the [real type](Element::Real).
    type StagedReal<'a>: DerefMut<Target = [<Self::Work as Element>::Real]>;

    /// The same of the [complex type](Element::Complex).
    type StagedComplex<'a>: DerefMut<Target = [<Self::Work as Element>::Complex]>;

    /// The values in the working precision, to be changed in place.
    ///
    /// # Errors
    /// There is no memory for a working copy, where one is needed.
    fn stage(values: &mut [Self]) -> Result<Self::Staged<'_>>;

    /// The same of the real type.
    ///
    /// # Errors
    /// As [`stage`](Precision::stage).
    fn stage_real(values: &mut [Self::Real]) -> Result<Self::StagedReal<'_>>;

    /// The same of the complex type.
    ///
    /// # Errors
    /// As [`stage`](Precision::stage).
    fn stage_complex(values: &mut [Self::Complex]) -> Result<Self::StagedComplex<'_>>;

    /// The values in the working precision, to be read; `copy` is where they are if that is not
    /// their own.
    ///
    /// # Errors
    /// As [`stage`](Precision::stage).
    fn read<'a>(values: &'a [Self], copy: &'a mut Vec<Self::Work>) -> Result<&'a [Self::Work]>;
}

macro_rules! computed_as_it_is {
    ($scalar:ty, $real:ty) => {
        impl Precision for $scalar {
            type Work = $scalar;
            type Staged<'a> = &'a mut [$scalar];
            type StagedReal<'a> = &'a mut [$real];
            type StagedComplex<'a> = &'a mut [Complex<$real>];

            #[inline]
            fn stage(values: &mut [Self]) -> Result<&mut [Self]> {
                Ok(values)
            }

            #[inline]
            fn stage_real(values: &mut [$real]) -> Result<&mut [$real]> {
                Ok(values)
            }

            #[inline]
            fn stage_complex(values: &mut [Complex<$real>]) -> Result<&mut [Complex<$real>]> {
                Ok(values)
            }

            #[inline]
            fn read<'a>(values: &'a [Self], _: &'a mut Vec<Self>) -> Result<&'a [Self]> {
                Ok(values)
            }
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
computed_as_it_is!(f32, f32);
#[cfg(not(feature = "promote-f32"))]
computed_as_it_is!(Complex<f32>, f32);
computed_as_it_is!(f64, f64);
computed_as_it_is!(Complex<f64>, f64);

#[cfg(feature = "promote-f32")]
mod promoted {
    use super::*;
    use crate::workspace::filled;
    use std::ops::Deref;

    /// A value that is computed in a wider type.
    pub trait Narrow: Element {
        /// The wider type.
        type Wide: Element;
        fn widen(self) -> Self::Wide;
        fn narrow(wide: Self::Wide) -> Self;
    }

    /// Single-precision values, and a copy in the precision that is worked in.
    pub struct Promoted<'a, T: Narrow> {
        origin: &'a mut [T],
        copy: Vec<T::Wide>,
    }

    impl<'a, T: Narrow> Promoted<'a, T> {
        fn new(origin: &'a mut [T]) -> Result<Self> {
            let copy = widened(origin)?;
            Ok(Promoted { origin, copy })
        }
    }

    fn widened<T: Narrow>(values: &[T]) -> Result<Vec<T::Wide>> {
        let mut copy = filled(values.len(), T::Wide::ZERO)?;
        for (to, from) in copy.iter_mut().zip(values) {
            *to = from.widen();
        }
        Ok(copy)
    }

    impl<T: Narrow> Deref for Promoted<'_, T> {
        type Target = [T::Wide];

        fn deref(&self) -> &[T::Wide] {
            &self.copy
        }
    }

    impl<T: Narrow> DerefMut for Promoted<'_, T> {
        fn deref_mut(&mut self) -> &mut [T::Wide] {
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
        type Wide = f64;

        fn widen(self) -> f64 {
            self.into()
        }

        fn narrow(wide: f64) -> Self {
            wide as f32
        }
    }

    impl Narrow for Complex<f32> {
        type Wide = Complex<f64>;

        fn widen(self) -> Complex<f64> {
            Complex::new(self.re.into(), self.im.into())
        }

        fn narrow(wide: Complex<f64>) -> Self {
            Complex::new(wide.re as f32, wide.im as f32)
        }
    }

    macro_rules! promoted {
        ($scalar:ty, $wide:ty) => {
            impl Precision for $scalar {
                type Work = $wide;
                type Staged<'a> = Promoted<'a, $scalar>;
                type StagedReal<'a> = Promoted<'a, f32>;
                type StagedComplex<'a> = Promoted<'a, Complex<f32>>;

                fn stage(values: &mut [Self]) -> Result<Promoted<'_, Self>> {
                    Promoted::new(values)
                }

                fn stage_real(values: &mut [f32]) -> Result<Promoted<'_, f32>> {
                    Promoted::new(values)
                }

                fn stage_complex(
                    values: &mut [Complex<f32>],
                ) -> Result<Promoted<'_, Complex<f32>>> {
                    Promoted::new(values)
                }

                fn read<'a>(values: &'a [Self], copy: &'a mut Vec<$wide>) -> Result<&'a [$wide]> {
                    *copy = widened(values)?;
                    Ok(copy)
                }
            }
        };
    }
    promoted!(f32, f64);
    promoted!(Complex<f32>, Complex<f64>);
}
