//! What op bodies ask of a platform. A body is written once, for every platform that has the
//! trait for its scalar; a further platform is a folder here and a name in the table of ops.

pub mod cuda;
pub mod lapack;

use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Error, Platform, Result, Scalar};

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

/// The triangle of a Hermitian matrix that is read; and which singular vectors are wanted.
pub use lapack::{Triangle, Vectors};

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

/// A batch of matrices of one shape, each column-major without gaps, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrices {
    /// Number of matrices.
    pub count: usize,
    /// Rows of each; at least 0.
    pub rows: i32,
    /// Columns of each; at least 0.
    pub cols: i32,
}

impl Matrices {
    /// The matrices that `buffer` holds in its last two dimensions, and its batch dimensions.
    ///
    /// # Errors
    /// The rank is below 2; the solvers' 32-bit integers cannot hold a dimension.
    #[inline(never)] // once, not in each op for each dtype
    pub fn of<'f>(buffer: &AnyBuffer<'f>) -> Result<(Self, &'f [i64])> {
        let (batch, count, [rows, cols]) = buffer.split_dims()?;
        let (Ok(rows), Ok(cols)) = (i32::try_from(rows), i32::try_from(cols)) else {
            return Err(Error::mismatch(
                buffer.operand(),
                format_args!("have at most {} rows and columns", i32::MAX),
                format_args!("{rows} x {cols}"),
            ));
        };
        Ok((Matrices { count, rows, cols }, batch))
    }

    /// The same of square matrices.
    ///
    /// # Errors
    /// As [`of`](Matrices::of); the matrices are not square.
    pub fn square<'f>(buffer: &AnyBuffer<'f>) -> Result<(Self, &'f [i64])> {
        let (shape, batch) = Matrices::of(buffer)?;
        if shape.rows == shape.cols {
            return Ok((shape, batch));
        }
        Err(Error::mismatch(
            buffer.operand(),
            "be square",
            format_args!("{} x {}", shape.rows, shape.cols),
        ))
    }

    /// `min(rows, cols)`.
    #[must_use]
    pub fn rank(self) -> i32 {
        self.rows.min(self.cols)
    }

    /// Number of elements of one matrix.
    #[must_use]
    pub fn elements(self) -> usize {
        // Neither is negative, and the buffer that holds them fits in memory.
        self.rows as usize * self.cols as usize
    }

    /// Rows, columns and the smaller of both.
    #[must_use]
    pub fn sizes(self) -> (usize, usize, usize) {
        // None is negative.
        (self.rows as usize, self.cols as usize, self.rank() as usize)
    }

    /// The same matrices, each transposed.
    #[must_use]
    pub fn transposed(self) -> Self {
        Matrices {
            rows: self.cols,
            cols: self.rows,
            ..self
        }
    }

    /// Operations that a factorisation of one matrix takes, roughly.
    #[must_use]
    pub fn flops(self) -> f64 {
        f64::from(self.rows) * f64::from(self.cols) * f64::from(self.rank())
    }
}
