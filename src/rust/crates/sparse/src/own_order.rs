//! The Cholesky factor with rows and columns in the matrix's own order, and its derivatives, column by column.

use crate::factor_pattern::factor_columns;
use crate::jet::{along, Jet};
use crate::number::Number;
use crate::pattern::Pattern;
use crate::scratch::zeros;
use crate::symbolic::upper;
use std::collections::TryReserveError;

/// What follows from a pattern: the factor `L` of `A = L Lᵀ` in compressed columns, and where the matrix goes there.
#[derive(Clone, Debug)]
pub struct OwnOrder {
    starts: Vec<usize>,
    rows: Vec<u32>,
    // The place in the factor of each of the matrix's entries.
    places: Vec<usize>,
    // For each row its entries left of the diagonal: column and place.
    left_starts: Vec<usize>,
    left: Vec<(u32, usize)>,
}

impl OwnOrder {
    /// Analyses a pattern.
    #[must_use]
    pub fn new(pattern: &Pattern) -> OwnOrder {
        let n = pattern.n();
        let own: Vec<usize> = (0..n).collect();
        let (starts, rows) = factor_columns(&upper(pattern, &own));
        let columns = pattern.columns();
        let mut places = Vec::with_capacity(pattern.nnz());
        for (column, &start) in starts[..n].iter().enumerate() {
            let mut at = start;
            for &row in columns.column(column) {
                while rows[at] != row as u32 {
                    at += 1;
                }
                places.push(at);
            }
        }
        let below = |column: usize| starts[column] + 1..starts[column + 1];
        let mut left_starts = vec![0; n + 1];
        for at in (0..n).flat_map(below) {
            left_starts[rows[at] as usize + 1] += 1;
        }
        for row in 0..n {
            left_starts[row + 1] += left_starts[row];
        }
        let mut next = left_starts.clone();
        let mut left = vec![(0, 0); rows.len() - n];
        for column in 0..n {
            for at in below(column) {
                let row = rows[at] as usize;
                left[next[row]] = (column as u32, at);
                next[row] += 1;
            }
        }
        OwnOrder {
            starts,
            rows,
            places,
            left_starts,
            left,
        }
    }

    /// Where each column of the factor begins, and the number of its entries.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The row of each entry, ascending in a column.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// [`Float::own_factor`](crate::Float::own_factor)
    pub(crate) fn factor<S: Number>(
        &self,
        a: &[S],
        directions: &[&[S]],
        factor: &mut [S],
    ) -> Result<(), TryReserveError> {
        along!(directions.len(), M => self.derivative::<S, M>(a, None, directions, factor))
    }

    /// [`Float::own_pullback`](crate::Float::own_pullback)
    pub(crate) fn pullback<S: Number>(
        &self,
        a: &[S],
        weights: &[S],
        directions: &[&[S]],
        result: &mut [S],
    ) -> Result<(), TryReserveError> {
        let weights = Some(weights);
        along!(directions.len(), M => self.derivative::<S, M>(a, weights, directions, result))
    }

    fn derivative<S: Number, const M: usize>(
        &self,
        a: &[S],
        weights: Option<&[S]>,
        directions: &[&[S]],
        result: &mut [S],
    ) -> Result<(), TryReserveError> {
        assert_eq!(a.len(), self.places.len());
        let jets = Jet::<S, M>::along(a, directions)?;
        let mut factor = zeros(self.rows.len())?;
        if !self.eliminate(&jets, &mut factor)? {
            result.fill(S::NAN);
            return Ok(());
        }
        let Some(weights) = weights else {
            assert_eq!(result.len(), factor.len());
            for (result, value) in result.iter_mut().zip(factor) {
                *result = value.0[M - 1];
            }
            return Ok(());
        };
        assert_eq!(weights.len(), factor.len());
        assert_eq!(result.len(), a.len());
        let mut weights = Jet::along(weights, &[])?;
        self.pull(&factor, &mut weights)?;
        for (result, &place) in result.iter_mut().zip(&self.places) {
            *result = weights[place].0[M - 1];
        }
        Ok(())
    }

    /// Whether the matrix is positive definite; then `l` is its factor.
    fn eliminate<S: Number>(&self, a: &[S], l: &mut [S]) -> Result<bool, TryReserveError> {
        let mut column: Vec<S> = zeros(self.left_starts.len())?;
        for (&place, &value) in self.places.iter().zip(a) {
            l[place] = value;
        }
        for j in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[j], self.starts[j + 1]);
            for at in start..end {
                column[self.rows[at] as usize] = l[at];
            }
            for &(before, place) in &self.left[self.left_starts[j]..self.left_starts[j + 1]] {
                let factor = l[place];
                for at in place..self.starts[before as usize + 1] {
                    let to = &mut column[self.rows[at] as usize];
                    *to = *to - l[at] * factor;
                }
            }
            if !column[j].is_pivot() {
                return Ok(false);
            }
            l[start] = column[j].sqrt();
            let factor = l[start].recip();
            for at in start + 1..end {
                l[at] = column[self.rows[at] as usize] * factor;
            }
        }
        Ok(true)
    }

    /// The same backwards: `bar` has the derivatives by the factor's entries, and then those by the matrix's at the
    /// same places. S. P. Smith, "Differentiation of the Cholesky algorithm", Journal of Computational and Graphical
    /// Statistics 4 (1995).
    fn pull<S: Number>(&self, l: &[S], bar: &mut [S]) -> Result<(), TryReserveError> {
        let mut column: Vec<S> = zeros(self.left_starts.len())?;
        for j in (0..self.starts.len() - 1).rev() {
            let (start, end) = (self.starts[j], self.starts[j + 1]);
            let factor = l[start].recip();
            let mut pivot = bar[start];
            for at in start + 1..end {
                bar[at] = bar[at] * factor;
                pivot = pivot - bar[at] * l[at];
                column[self.rows[at] as usize] = bar[at];
            }
            bar[start] = pivot * (l[start] + l[start]).recip();
            column[j] = bar[start];
            for &(before, place) in &self.left[self.left_starts[j]..self.left_starts[j + 1]] {
                let factor = l[place];
                let mut sum = S::ZERO;
                for at in place..self.starts[before as usize + 1] {
                    let here = column[self.rows[at] as usize];
                    bar[at] = bar[at] - here * factor;
                    sum = sum + here * l[at];
                }
                bar[place] = bar[place] - sum;
            }
        }
        Ok(())
    }
}
