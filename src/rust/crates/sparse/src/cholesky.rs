//! Cholesky factorisation, supernode by supernode from the leaves of the tree: each passes what its columns subtract
//! from later ones on to its parent (the multifrontal method: J. W. H. Liu, SIAM Review 34 (1992), 82-109).

use crate::kernels;
use crate::number::Number;
use crate::scratch::stacks;
use crate::symbolic::{Supernode, Symbolic};
use crate::tree::NONE;
use std::collections::TryReserveError;

impl Symbolic {
    /// [`Float::cholesky`](crate::Float::cholesky)
    pub(crate) fn cholesky<S: Number>(
        &self,
        a: &[S],
        factor: &mut [S],
    ) -> Result<i32, TryReserveError> {
        assert_eq!(a.len(), self.pattern().nnz());
        assert_eq!(factor.len(), self.factor_len());
        let mut stacks = stacks(self.update_stacks)?;
        for node in &self.supernodes {
            let panel = &mut factor[node.panel()];
            if let Err(column) = self.eliminate(node, a, panel, &mut stacks) {
                factor.fill(S::NAN);
                return Ok(self.permutation()[node.first + column] as i32 + 1);
            }
        }
        Ok(0)
    }

    fn eliminate<S: Number>(
        &self,
        node: &Supernode,
        a: &[S],
        panel: &mut [S],
        stacks: &mut [Vec<S>; 2],
    ) -> Result<(), usize> {
        let [even, odd] = stacks;
        let (own, other) = if node.odd { (odd, even) } else { (even, odd) };
        let below = node.below();
        let update = &mut own[node.update..node.update + below * below];
        panel.fill(S::ZERO);
        update.fill(S::ZERO);
        for (entry, place) in self.entries(node) {
            panel[place] = a[entry];
        }
        let mut child = node.first_child;
        while child != NONE {
            let from = &self.supernodes[child];
            self.add(from, &other[from.update..], node, panel, update);
            child = from.next_sibling;
        }
        kernels::factor_panel(panel, node.height)?;
        if below > 0 {
            kernels::subtract_square(update, panel, node.height);
        }
        Ok(())
    }

    /// Adds a child's update to its parent's panel and update.
    fn add<S: Number>(
        &self,
        child: &Supernode,
        from: &[S],
        node: &Supernode,
        panel: &mut [S],
        update: &mut [S],
    ) {
        let (relative, below) = (self.relative(child), node.below());
        for (j, &column) in relative.iter().enumerate() {
            let column = column as usize;
            // The parent's rows in that column, from its own diagonal or from below its panel on.
            let (to, skipped) = if column < node.width {
                (&mut panel[column * node.height..][..node.height], 0)
            } else {
                let at = (column - node.width) * below;
                (&mut update[at..at + below], node.width)
            };
            let from = &from[j * relative.len()..][j..relative.len()];
            for (&row, &x) in relative[j..].iter().zip(from) {
                let to = &mut to[row as usize - skipped];
                *to = *to + x;
            }
        }
    }

    /// The logarithm of the determinant of the factored matrix.
    #[must_use]
    pub fn log_determinant(&self, factor: &[f64]) -> f64 {
        let logs = self.diagonal().into_iter().map(|at| factor[at].ln());
        2.0 * logs.sum::<f64>()
    }
}
