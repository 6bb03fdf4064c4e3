//! What the functions work with that [`Lanes`](crate::lanes::Lanes) compiles once for all kernels.

use std::ops::Range;

/// Where the factors of the products stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// In the columns that are changed, in the rows of the known ones: `A₂₂ - L₂₁ U₁₂`.
    Above,
    /// In the known columns, in the rows of those that are changed, of which no more than the lower triangle is
    /// wanted: `A₂₂ - L₂₁ L₂₁ᵀ`.
    Beside,
}

/// From some columns the known ones, each multiplied by its factor, are taken, in the vectors `rows`.
#[derive(Clone, Debug)]
pub struct Product<'a, V> {
    pub(crate) stride: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) known: &'a [V],
    /// The numbers of the first known column and of the first one that is changed.
    pub(crate) first: (usize, usize),
    pub(crate) factors: Factors,
}

/// Columns that have their results, the number of the first one, and the rows of their pivots.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, V> {
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
