//! What a factorisation computes with.

use std::ops::{Add, Mul, Neg, Sub};

use crate::dense;

/// Numbers, or what is computed with like numbers.
pub trait Scalar:
    Copy
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// No number.
    const NAN: Self;

    /// Whether it can be a pivot: positive and finite.
    fn is_pivot(self) -> bool;
    /// The square root of a pivot.
    fn sqrt(self) -> Self;
    /// 1 divided by it.
    fn recip(self) -> Self;

    /// Factors the columns of a panel of `height` rows; its own rows come first. Fails with the column whose pivot
    /// is none.
    ///
    /// # Errors
    /// A pivot is not positive and finite.
    fn factor_panel(panel: &mut [Self], height: usize) -> Result<(), usize> {
        dense::factor_panel(panel, height)
    }

    /// Subtracts `B Bᵀ` from the lower triangle of a square matrix, `B` being the panel's rows below its own.
    fn subtract_square(square: &mut [Self], panel: &[Self], height: usize) {
        dense::subtract_square(square, panel, height);
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Scalar for $number {
            const ZERO: Self = 0.0;
            const NAN: Self = <$number>::NAN;

            fn is_pivot(self) -> bool {
                self > 0.0 && self < <$number>::INFINITY
            }

            fn sqrt(self) -> Self {
                <$number>::sqrt(self)
            }

            fn recip(self) -> Self {
                1.0 / self
            }
        }
    )*};
}
numbers! { f32 f64 }
