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

computed_as_it_is!(f32, f32);
computed_as_it_is!(Complex<f32>, f32);
computed_as_it_is!(f64, f64);
computed_as_it_is!(Complex<f64>, f64);
