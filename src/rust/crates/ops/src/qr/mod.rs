//! QR factorisation.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod geqrf;
pub(crate) mod host;
mod host_pivoted;
pub(crate) mod jaxlib;
pub(crate) mod orgqr;
pub(crate) mod pivoted;

use crate::platform::MemoryAccess;
use matrices::Matrices;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result, Scalar};

/// A platform with QR factorisation in `T`.
///
/// The operands' shapes have been checked. What cannot be computed becomes NaN in the matrix concerned
/// and is not an error.
pub trait QrSolver<T: Scalar>: MemoryAccess {
    /// `A = Q R`: `R` on and above the diagonal, below it and in `tau` (`shape.rank()` per matrix)
    /// the reflectors of `Q`.
    ///
    /// # Errors
    /// The platform's own.
    fn geqrf(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        tau: &mut AnyBufferMut<'_>,
    ) -> Result<()>;

    /// Copies the first `cols` columns of each matrix; where these are all, as
    /// [`copy`](MemoryAccess::copy).
    ///
    /// # Errors
    /// The platform's own.
    fn copy_columns(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        from: &AnyBuffer<'_>,
        cols: i32,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()>;

    /// The columns of `Q` in place of its reflectors; `tau` holds `reflectors` per matrix, not more
    /// than columns, of which there are not more than rows.
    ///
    /// # Errors
    /// The platform's own.
    fn orgqr(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        reflectors: usize,
        a: &mut AnyBufferMut<'_>,
        tau: &AnyBuffer<'_>,
    ) -> Result<()>;
}
