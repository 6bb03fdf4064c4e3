//! The dtypes of kernels.

use super::lanes::Float;
use matrices::{Complex, Element};

/// A dtype as the numbers that it is made of.
pub trait InParts: Element<Real: Float> {
    /// Numbers that make one.
    const PARTS: usize;

    /// The parts of all values, one after the other.
    fn parts(values: &[Self]) -> &[Self::Real];
    /// The same, to be changed.
    fn parts_mut(values: &mut [Self]) -> &mut [Self::Real];
}

macro_rules! in_parts {
    ($($t:ident)*) => {$(
        impl InParts for $t {
            const PARTS: usize = 1;

            #[inline(always)]
            fn parts(values: &[$t]) -> &[$t] {
                values
            }
            #[inline(always)]
            fn parts_mut(values: &mut [$t]) -> &mut [$t] {
                values
            }
        }

        impl InParts for Complex<$t> {
            const PARTS: usize = 2;

            #[inline(always)]
            fn parts(values: &[Self]) -> &[$t] {
                let len = 2 * values.len();
                // SAFETY: a complex number is its two parts, without anything between them.
                unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), len) }
            }
            #[inline(always)]
            fn parts_mut(values: &mut [Self]) -> &mut [$t] {
                let len = 2 * values.len();
                // SAFETY: as above.
                unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), len) }
            }
        }
    )*};
}
in_parts!(f32 f64);
