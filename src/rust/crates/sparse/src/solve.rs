//! Solution of equations with a factor.

use crate::number::Number;
use crate::scratch::zeros;
use crate::symbolic::Symbolic;
use std::collections::TryReserveError;

/// Which equation is solved; `P A Pᵀ = L Lᵀ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// `A x = b`
    Whole,
    /// `L x = P b`
    Lower,
    /// `Lᵀ P x = b`
    Transposed,
}

impl Symbolic {
    /// Solves for each column of `n` elements of `b`, into the same of `x`.
    ///
    /// # Errors
    /// There is no memory to work in.
    ///
    /// # Panics
    /// The lengths do not fit.
    pub fn solve<S: Number>(
        &self,
        factor: &[S],
        system: System,
        b: &[S],
        x: &mut [S],
    ) -> Result<(), TryReserveError> {
        assert_eq!(factor.len(), self.factor_len());
        assert_eq!(b.len(), x.len());
        if self.n() == 0 {
            return Ok(());
        }
        let mut work = zeros(self.n())?;
        for (b, x) in b.chunks_exact(self.n()).zip(x.chunks_exact_mut(self.n())) {
            if system == System::Transposed {
                work.copy_from_slice(b);
            } else {
                for (y, &row) in work.iter_mut().zip(self.permutation()) {
                    *y = b[row as usize];
                }
            }
            if system != System::Transposed {
                self.forward(factor, &mut work);
            }
            if system == System::Lower {
                x.copy_from_slice(&work);
                continue;
            }
            self.backward(factor, &mut work);
            for (&y, &row) in work.iter().zip(self.permutation()) {
                x[row as usize] = y;
            }
        }
        Ok(())
    }

    /// `L y = y`
    fn forward<S: Number>(&self, factor: &[S], y: &mut [S]) {
        for node in &self.supernodes {
            let rows = self.rows(node);
            for (j, column) in factor[node.panel()].chunks_exact(node.height).enumerate() {
                let at = node.first + j;
                let value = y[at] * column[j].recip();
                y[at] = value;
                subtract(
                    &mut y[at + 1..node.first + node.width],
                    &column[j + 1..],
                    value,
                );
                for (&row, &l) in rows[node.width..].iter().zip(&column[node.width..]) {
                    let y = &mut y[row as usize];
                    *y = *y - l * value;
                }
            }
        }
    }

    /// `Lᵀ y = y`
    fn backward<S: Number>(&self, factor: &[S], y: &mut [S]) {
        for node in self.supernodes.iter().rev() {
            let rows = self.rows(node);
            let columns = factor[node.panel()].chunks_exact(node.height);
            for (j, column) in columns.enumerate().rev() {
                let mut sum = y[node.first + j];
                for (&row, &l) in rows[j + 1..].iter().zip(&column[j + 1..]) {
                    sum = sum - l * y[row as usize];
                }
                y[node.first + j] = sum * column[j].recip();
            }
        }
    }
}

/// `y -= factor x`
fn subtract<S: Number>(y: &mut [S], x: &[S], factor: S) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y - x * factor;
    }
}
