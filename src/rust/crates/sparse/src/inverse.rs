//! The inverse where the matrix has entries, and its derivatives there.
//!
//! From the roots of the tree down: the inverse at all rows of a supernode follows from its columns of the factor and
//! from the inverse at the rows below, which the parent has. K. Takahashi, J. Fagan and M.-S. Chin, "Formation of a
//! sparse bus impedance matrix and its application to short circuit study", 8th PICA conference (1973).

use crate::front;
use crate::jet::{along, Jet};
use crate::number::Number;
use crate::scratch::{stacks, zeros};
use crate::symbolic::{Supernode, Symbolic};
use crate::tree::NONE;
use std::collections::TryReserveError;

impl Symbolic {
    /// [`Float::inverse`](crate::Float::inverse)
    pub(crate) fn inverse<S: Number>(
        &self,
        factor: &[S],
        inverse: &mut [S],
    ) -> Result<(), TryReserveError> {
        assert_eq!(factor.len(), self.factor_len());
        assert_eq!(inverse.len(), self.pattern().nnz());
        let mut stacks = stacks(self.front_stacks)?;
        let panels = self.supernodes.iter().map(|node| node.height * node.width);
        let most = panels.max().unwrap_or(0);
        let (mut panel, mut work) = (zeros(most)?, zeros(2 * most)?);
        for node in self.supernodes.iter().rev() {
            let [even, odd] = &mut stacks;
            let (own, other) = if node.odd { (odd, even) } else { (even, odd) };
            let height = node.height;
            let front = &mut own[node.front..node.front + height * height];
            if node.parent != NONE {
                let parent = &self.supernodes[node.parent];
                self.take(node, front, &other[parent.front..], parent.height);
            }
            let panel = &mut panel[..height * node.width];
            panel.copy_from_slice(&factor[node.panel()]);
            front::invert_front(front, panel, &mut work, height);
            for (entry, place) in self.entries(node) {
                inverse[entry] = front[place];
            }
        }
        Ok(())
    }

    /// The part of the parent's front that has the rows below a supernode's own.
    fn take<S: Number>(&self, node: &Supernode, front: &mut [S], parent: &[S], height: usize) {
        let relative = self.relative(node);
        let columns = front.chunks_exact_mut(node.height).skip(node.width);
        for (to, &column) in columns.zip(relative) {
            let from = &parent[column as usize * height..][..height];
            for (to, &row) in to[node.width..].iter_mut().zip(relative) {
                *to = from[row as usize];
            }
        }
    }

    /// [`Float::inverse_derivative`](crate::Float::inverse_derivative)
    pub(crate) fn inverse_derivative<S: Number>(
        &self,
        a: &[S],
        directions: &[&[S]],
        result: &mut [S],
    ) -> Result<(), TryReserveError> {
        assert!(!directions.is_empty(), "0 directions");
        along!(directions.len(), M => self.derivative::<S, M>(a, directions, result))
    }

    fn derivative<S: Number, const M: usize>(
        &self,
        a: &[S],
        along: &[&[S]],
        result: &mut [S],
    ) -> Result<(), TryReserveError> {
        assert_eq!(result.len(), a.len());
        let mut values = Jet::<S, M>::along(a, along)?;
        let mut factor = zeros(self.factor_len())?;
        if self.cholesky(&values, &mut factor)? != 0 {
            result.fill(S::NAN);
            return Ok(());
        }
        self.inverse(&factor, &mut values)?;
        for (result, value) in result.iter_mut().zip(values) {
            *result = value.0[M - 1];
        }
        Ok(())
    }
}
