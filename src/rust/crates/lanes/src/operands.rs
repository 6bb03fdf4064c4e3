//! What the functions work with that [`Lanes`](crate::lanes::Lanes) compiles once for all kernels.

use crate::together::Together;
use std::ops::Range;

/// Where the factors of the products stand.
#[derive(Clone, Copy, Debug)]
pub enum Factors<'a, V> {
    /// In the columns that are changed, in the rows of the known ones: `A₂₂ - L₂₁ U₁₂`.
    Above,
    /// In these columns, one for each known one, in the rows of those that are changed, of which no more than the lower
    /// triangle is wanted: `A₂₂ - L₂₁ L₂₁ᵀ`.
    Beside(&'a [V]),
    /// The same, where all of the rows are wanted: `A - V Yᵀ`.
    Across(&'a [V]),
    /// In columns of their own, one for each that is changed, a number of vectors from one to the next, from a row on.
    Apart(&'a [V], usize, usize),
    /// As [`Above`](Factors::Above) in complex columns, whose parts are rows.
    ComplexAbove,
    /// As [`Beside`](Factors::Beside) in complex columns, conjugates of these: `A₂₂ - L₂₁ L₂₁ᴴ`.
    ComplexBeside(&'a [V]),
}

impl<V> Factors<'_, V> {
    /// Rows that a row of the matrices is.
    #[inline(always)]
    pub(crate) fn parts(&self) -> usize {
        match self {
            Factors::ComplexAbove | Factors::ComplexBeside(_) => 2,
            _ => 1,
        }
    }
}

/// From some columns the known ones, each multiplied by its factor, are taken, in the vectors `rows`.
#[derive(Clone, Debug)]
pub struct Product<'a, V> {
    pub(crate) stride: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) known: &'a [V],
    /// The numbers of the first known column and of the first one that is changed.
    pub(crate) first: (usize, usize),
    pub(crate) factors: Factors<'a, V>,
}

/// A symmetric matrix, of which the lower triangle is read from row and column `first` on; what is done with it: `x` is
/// a factor, and `v wᵀ + w vᵀ` taken from it. These are 0 in the line of that row before it.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a, V> {
    pub(crate) n: usize,
    pub(crate) stride: usize,
    pub(crate) first: usize,
    pub(crate) x: &'a [V],
    pub(crate) v: &'a [V],
    pub(crate) w: &'a [V],
}

/// A Hermitian matrix, of which the lower triangle is read, and a factor `x`, `len` vectors long: their real parts,
/// then their imaginary parts, which for `x` begin `stride` vectors later. `x` is 0 in the line of its first row
/// before it.
#[derive(Clone, Copy, Debug)]
pub struct Hemv<'a, V> {
    pub(crate) stride: usize,
    pub(crate) len: usize,
    pub(crate) x: &'a [V],
}

/// A symmetric tridiagonal matrix: its diagonal, which becomes the eigenvalues, the elements beside it, and the numbers
/// of the eigenvalues as they ascend. Eigenvectors have a number of vectors from one to the next.
pub struct Stedc<'a, T> {
    pub(crate) d: &'a mut [T],
    pub(crate) e: &'a [T],
    pub(crate) order: &'a mut [u16],
    pub(crate) stride: usize,
    pub(crate) together: Together<'a>,
}

/// What divide and conquer works in. A matrix is `n` columns of `stride` vectors, or more.
#[derive(Debug)]
pub struct Room<'a, V> {
    pub(crate) stride: usize,
    /// A matrix, of columns in the order that products have them.
    pub(crate) packed: &'a mut [V],
    /// A matrix, of eigenvectors of what is left of the problem, and behind these of columns that stay.
    pub(crate) vectors: &'a mut [V],
    /// Vectors for roots and the like.
    pub(crate) rest: &'a mut [V],
    /// What products work in.
    pub(crate) work: &'a mut [V],
}

/// What is taken from a matrix: products of a column and a row.
pub(crate) type Update<'a, V> = [(&'a [V], &'a [V]); 2];

/// A pass over the columns `which` of a matrix, from the vector `top` to `end`, for a reflection of its rows,
/// `I - tau v vᵀ`, which makes a row final: the next reflection is made of that. `v` is 0 from `top` to that row.
/// Vectors of a complex matrix are their real parts, then their imaginary parts, which begin `stride` vectors later; the
/// columns that are multiplied with `v`, and the row, are conjugated.
#[derive(Clone, Debug)]
pub struct Gemver<'a, V> {
    pub(crate) stride: usize,
    pub(crate) top: usize,
    pub(crate) end: usize,
    /// From any column to the end of a line of columns.
    pub(crate) which: Range<usize>,
    pub(crate) row: usize,
    pub(crate) v: &'a [V],
    pub(crate) tau: f64,
    /// What is added to the products of the columns with `v`, and to the row.
    pub(crate) base: [&'a [V]; 2],
}

/// What the roots of a [secular equation](Secular) are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spectrum {
    /// Eigenvalues of `diag(d) + rho z zᵀ`.
    Eigenvalues,
    /// Singular values of `diag(d)` with `z` in place of its first row, where `d` is 0.
    SingularValues,
}

/// The secular equation `1 / rho + Σ zᵢ² / (dᵢ - λ) = 0`, with `d` ascending and no `z` 0; or with the squares of
/// `d` and `λ` in place of these.
#[derive(Clone, Copy, Debug)]
pub struct Secular<'a, T> {
    pub(crate) spectrum: Spectrum,
    pub(crate) poles: &'a [T],
    pub(crate) z: &'a [T],
    pub(crate) rho: f64,
}

/// Roots of the [secular equation](Secular), each as a pole and how far it is from that: a vector of poles and one of
/// distances for so many roots as a vector has lanes, then the next ones.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a, V> {
    pub(crate) spectrum: Spectrum,
    pub(crate) pairs: &'a [V],
}

/// Vectors of [roots](Roots), by poles and `z` in any order. Where there is no pole, `z` is 0 and the pole is far away.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a, V> {
    pub(crate) poles: &'a [V],
    pub(crate) z: &'a [V],
    pub(crate) roots: Roots<'a, V>,
    /// Of left singular vectors the place of the row that is `z`.
    pub(crate) left: Option<usize>,
}

/// An upper triangle by columns, a number of vectors from one to the next, and how tall the columns of a strip are that
/// becomes `S` of `S U = Y`.
#[derive(Clone, Copy, Debug)]
pub struct Substitution<'a, V> {
    pub(crate) upper: &'a [V],
    pub(crate) stride: usize,
    pub(crate) tall: usize,
    /// Whether the diagonal is of ones.
    pub(crate) unit: bool,
}

/// Columns of `m` rows that have their results, the number of the first one, and the rows of their pivots. Each row is
/// as many rows of a column as a number has parts.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, V> {
    pub(crate) parts: usize,
    pub(crate) m: usize,
    pub(crate) stride: usize,
    pub(crate) known: &'a [V],
    pub(crate) first: usize,
    pub(crate) rows: &'a [i32],
}

/// Which of both a block's triangle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// `Hᵀ C`, of a factorisation.
    Factor,
    /// `H C`, of the columns of `Q`.
    Columns,
}

/// Reflections that are ready to act.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, V> {
    /// `V` by columns, and by rows.
    pub(crate) v: &'a [V],
    pub(crate) v_rows: &'a [V],
    /// `T` or its transposed, by columns.
    pub(crate) t: &'a [V],
    /// The vector of a matrix's columns where they begin.
    pub(crate) first: usize,
    /// The rows, from there on, where the columns they act on are not 0.
    pub(crate) rows: (usize, usize),
}
