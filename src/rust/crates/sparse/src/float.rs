//! What is done with matrices of each kind of numbers.

use crate::number::Number;
use crate::own_order::OwnOrder;
use crate::symbolic::Symbolic;
use std::collections::TryReserveError;

/// `f32` or `f64`. What takes long to compile is compiled here, once for each: functions with a parameter for the kind
/// would be compiled again in every crate and every test that calls them.
pub trait Float: Number {
    /// Factors the matrix with the values `a` at the pattern's entries into `factor`. 0, or the column, counted from 1,
    /// at which the matrix turned out not to be positive definite or not to be finite; then the factor is NaN.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// The lengths are not those of the pattern and of the factor.
    fn cholesky(
        symbolic: &Symbolic,
        a: &[Self],
        factor: &mut [Self],
    ) -> Result<i32, TryReserveError>;

    /// The inverse of the factored matrix at the pattern's entries.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// The lengths are not those of the factor and of the pattern.
    fn inverse(
        symbolic: &Symbolic,
        factor: &[Self],
        inverse: &mut [Self],
    ) -> Result<(), TryReserveError>;

    /// The mixed derivative of the inverse of the matrix `a` in all of the directions, symmetric matrices of the same
    /// pattern, at its entries; NaN where `a` is not positive definite.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// There are none or more than [`HIGHEST_ORDER`](crate::HIGHEST_ORDER) directions; the lengths are not those of the
    /// pattern.
    fn inverse_derivative(
        symbolic: &Symbolic,
        a: &[Self],
        directions: &[&[Self]],
        result: &mut [Self],
    ) -> Result<(), TryReserveError>;

    /// The mixed derivative, in all of the directions, symmetric matrices of the same pattern, of the factor of the matrix
    /// `a` in its own order; the factor itself where there are none. NaN where `a` is not positive definite.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// There are more than [`HIGHEST_ORDER`](crate::HIGHEST_ORDER) directions; the lengths are not those of the pattern
    /// and of the factor.
    fn own_factor(
        order: &OwnOrder,
        a: &[Self],
        directions: &[&[Self]],
        factor: &mut [Self],
    ) -> Result<(), TryReserveError>;

    /// The derivative, by the matrix's entries, of the sum of `weights` times the factor's entries; of that the mixed
    /// derivative in all of the directions. NaN where `a` is not positive definite.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// As [`own_factor`](Self::own_factor).
    fn own_pullback(
        order: &OwnOrder,
        a: &[Self],
        weights: &[Self],
        directions: &[&[Self]],
        result: &mut [Self],
    ) -> Result<(), TryReserveError>;
}

macro_rules! floats {
    ($($float:ty)*) => {$(
        impl Float for $float {
            fn cholesky(
                symbolic: &Symbolic,
                a: &[Self],
                factor: &mut [Self],
            ) -> Result<i32, TryReserveError> {
                symbolic.cholesky(a, factor)
            }

            fn inverse(
                symbolic: &Symbolic,
                factor: &[Self],
                inverse: &mut [Self],
            ) -> Result<(), TryReserveError> {
                symbolic.inverse(factor, inverse)
            }

            fn inverse_derivative(
                symbolic: &Symbolic,
                a: &[Self],
                directions: &[&[Self]],
                result: &mut [Self],
            ) -> Result<(), TryReserveError> {
                symbolic.inverse_derivative(a, directions, result)
            }

            fn own_factor(
                order: &OwnOrder,
                a: &[Self],
                directions: &[&[Self]],
                factor: &mut [Self],
            ) -> Result<(), TryReserveError> {
                order.factor(a, directions, factor)
            }

            fn own_pullback(
                order: &OwnOrder,
                a: &[Self],
                weights: &[Self],
                directions: &[&[Self]],
                result: &mut [Self],
            ) -> Result<(), TryReserveError> {
                order.pullback(a, weights, directions, result)
            }
        }
    )*};
}
floats! { f32 f64 }
