//! QR factorisation.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod geqrf;
pub(crate) mod host;
mod host_pivoted;
pub(crate) mod jaxlib;
mod operands;
pub(crate) mod orgqr;
pub(crate) mod pivoted;

use crate::platform::{Call, MemoryAccess, Results};
use xla_ffi::{AnyBuffer, AnyBufferMut, Result, Scalar};

/// A platform with QR factorisation in `T`.
///
/// The operands' shapes have been checked. What cannot be computed becomes NaN in the matrix concerned
/// and is not an error.
pub trait QrSolver<T: Scalar>: MemoryAccess {
    /// `A = Q R` to the first of the results, which may have the memory of `a`: `R` on and above the diagonal, below it and in
    /// the second one, `tau` (`shape.rank()` per matrix), the reflectors of `Q`.
    ///
    /// # Errors
    /// The platform's own.
    fn geqrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        results: Results<'_, '_, 2>,
    ) -> Result<()>;

    /// Copies the first `cols` columns of each matrix, which has more.
    ///
    /// # Errors
    /// The platform's own.
    fn copy_columns(
        call: Call<'_, '_, Self>,
        cols: i32,
        from: &AnyBuffer<'_>,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()>;

    /// The columns of `Q` from its reflectors in `packed`, or in `q` itself; `tau` holds `reflectors` per
    /// matrix, not more than columns, of which there are not more than rows.
    ///
    /// # Errors
    /// The platform's own.
    fn orgqr(
        call: Call<'_, '_, Self>,
        reflectors: usize,
        packed_and_tau: (Option<&AnyBuffer<'_>>, &AnyBuffer<'_>),
        q: &mut AnyBufferMut<'_>,
    ) -> Result<()>;
}
