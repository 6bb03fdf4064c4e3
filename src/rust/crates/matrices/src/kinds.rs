//! Kinds of matrices and of factors. Their values are the letters that LAPACK has for them.

/// The triangle of a matrix that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower = b'L',
    /// On and above the diagonal.
    Upper = b'U',
}

/// Which singular vectors are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Vectors {
    /// All: `U` is `m` × `m`, `Vᴴ` `n` × `n`.
    Full = b'A',
    /// The first `k = min(m, n)`: `U` is `m` × `k`, `Vᴴ` `k` × `n`.
    Thin = b'S',
    /// None.
    No = b'N',
}

impl Vectors {
    /// Columns of `U` and rows of `Vᴴ`.
    #[must_use]
    #[inline]
    pub fn counts(self, m: i32, n: i32) -> (i32, i32) {
        match self {
            Vectors::Full => (m, n),
            Vectors::Thin => (m.min(n), m.min(n)),
            Vectors::No => (0, 0),
        }
    }
}

/// What is done to a matrix before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Transpose {
    /// Nothing.
    No = b'N',
    /// It is transposed.
    Plain = b'T',
    /// It is transposed and conjugated.
    Conjugate = b'C',
}

/// A triangular matrix in a system of equations.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Whether it is to the left of the unknowns.
    pub left: bool,
    /// Where it lies.
    pub triangle: Triangle,
    /// What is done to it.
    pub transpose: Transpose,
    /// Whether its diagonal is of ones, whatever is stored there.
    pub unit: bool,
}
