//! Words for dense matrices that every layer shares: shapes of batches, element types, triangles,
//! singular vectors. No backend and no XLA.

mod element;
mod kinds;
mod values;

pub use element::Element;
pub use kinds::{Form, Transpose, Triangle, Vectors};
pub use num_complex::Complex;
pub use values::{all_finite, drop_tiny, fill_identity, triangle_finite};

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
    /// `min(rows, cols)`.
    #[must_use]
    #[inline]
    pub fn rank(self) -> i32 {
        self.rows.min(self.cols)
    }

    /// Number of elements of one matrix.
    #[must_use]
    #[inline]
    pub fn elements(self) -> usize {
        // Neither is negative, and the buffer that holds them fits in memory.
        self.rows as usize * self.cols as usize
    }

    /// Whether there are no elements in all of them.
    #[must_use]
    #[inline]
    pub fn is_empty(self) -> bool {
        self.elements() == 0 || self.count == 0
    }

    /// Rows, columns and the smaller of both.
    #[must_use]
    #[inline]
    pub fn sizes(self) -> (usize, usize, usize) {
        // None is negative.
        (self.rows as usize, self.cols as usize, self.rank() as usize)
    }

    /// The same matrices, each transposed.
    #[must_use]
    #[inline]
    pub fn transposed(self) -> Self {
        Matrices {
            rows: self.cols,
            cols: self.rows,
            ..self
        }
    }

    /// Operations that a factorisation of one matrix takes, roughly.
    #[must_use]
    #[inline]
    pub fn flops(self) -> f64 {
        f64::from(self.rows) * f64::from(self.cols) * f64::from(self.rank())
    }
}
