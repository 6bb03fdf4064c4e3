//! What op bodies ask of a platform. A body is written once, for every platform that has the
//! trait for its scalar; a further platform is a folder here and a name in the table of ops.

mod cuda;
pub mod host;

use matrices::{Matrices, Triangle};
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Platform, Result, Scalar};

/// Reach of a platform's memory.
pub trait Memory: Platform {
    /// Copies an argument to a result of the same shape, unless XLA gave them the same memory.
    ///
    /// # Errors
    /// The shapes or element types differ; the platform's own.
    fn copy(cx: &Cx<'_, Self>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()>;

    /// The bytes of an argument where this processor can read them.
    ///
    /// # Errors
    /// The platform's own.
    fn to_host<'f>(cx: &Cx<'_, Self>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>>;
}

/// A platform with dense linear algebra in `T`.
///
/// The routines work in place on operands whose shapes the op has checked. What cannot be
/// computed becomes NaN in the matrix concerned and is not an error. Errors are the platform's
/// own: matrices that its integers cannot count, no memory to work in.
pub trait Solver<T: Scalar>: Memory {
    /// `T`, or the type of its parts.
    type Real: Scalar;

    /// `P A = L U` with partial pivoting. `pivots` holds `shape.rank()` row numbers per matrix,
    /// counted from 1: row `i` was exchanged with row `pivots[i]`.
    ///
    /// # Errors
    /// The platform's own.
    fn getrf(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        pivots: &mut AnyBufferMut<'_>,
    ) -> Result<()>;

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
    /// [`copy`](Memory::copy).
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

    /// `A = U diag(s) Vᴴ` with `k = shape.rank()` columns of `U` and rows of `Vᴴ`; `s` is real and
    /// descending.
    ///
    /// # Errors
    /// The platform's own.
    fn svd(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        a: &AnyBuffer<'_>,
        u: &mut AnyBufferMut<'_>,
        s: &mut AnyBufferMut<'_>,
        vt: &mut AnyBufferMut<'_>,
    ) -> Result<()>;

    /// `A = V diag(w) Vᴴ` of Hermitian matrices of which one triangle is read; `a` becomes `V`, `w`
    /// is real and ascending.
    ///
    /// # Errors
    /// The platform's own.
    fn eigh(
        cx: &Cx<'_, Self>,
        shape: Matrices,
        triangle: Triangle,
        a: &mut AnyBufferMut<'_>,
        w: &mut AnyBufferMut<'_>,
    ) -> Result<()>;
}
