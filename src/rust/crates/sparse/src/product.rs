//! Products of a sparse matrix of any shape and dense ones in columns.

use crate::number::Number;
use crate::pattern::Columns;

impl Columns {
    /// `y = A x`, or `Aᵀ x`, with the values of `A` at its entries, column by column of `x`.
    ///
    /// # Panics
    /// The lengths do not fit.
    pub fn product<S: Number>(&self, values: &[S], transpose: bool, x: &[S], y: &mut [S]) {
        assert_eq!(values.len(), self.nnz());
        let (long, wide) = match transpose {
            true => (self.nrow(), self.ncol()),
            false => (self.ncol(), self.nrow()),
        };
        y.fill(S::ZERO);
        if long == 0 || wide == 0 {
            return;
        }
        assert_eq!(x.len() / long, y.len() / wide);
        for (x, y) in x.chunks_exact(long).zip(y.chunks_exact_mut(wide)) {
            for column in 0..self.ncol() {
                let values = &values[self.entries(column)];
                let entries = self.column(column).iter().zip(values);
                if transpose {
                    let products = entries.map(|(&row, &value)| value * x[row as usize]);
                    y[column] = products.fold(S::ZERO, |sum, product| sum + product);
                } else {
                    for (&row, &value) in entries {
                        let y = &mut y[row as usize];
                        *y = *y + value * x[column];
                    }
                }
            }
        }
    }

    /// `U Vᵀ` at the entries; `u` has as many rows as the matrix, `v` as many as it has columns.
    ///
    /// # Panics
    /// The lengths do not fit.
    pub fn sampled_product<S: Number>(&self, u: &[S], v: &[S], values: &mut [S]) {
        assert_eq!(values.len(), self.nnz());
        values.fill(S::ZERO);
        if self.nrow() == 0 || self.ncol() == 0 {
            return;
        }
        assert_eq!(u.len() / self.nrow(), v.len() / self.ncol());
        for (u, v) in u.chunks_exact(self.nrow()).zip(v.chunks_exact(self.ncol())) {
            for column in 0..self.ncol() {
                let values = &mut values[self.entries(column)];
                for (value, &row) in values.iter_mut().zip(self.column(column)) {
                    *value = *value + u[row as usize] * v[column];
                }
            }
        }
    }
}
