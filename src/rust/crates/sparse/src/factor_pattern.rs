//! The factor without its supernodes.

use crate::symbolic::{inverse, upper, Symbolic};
use crate::tree::{column_counts, each_entry, elimination_tree, Graph};

/// The factor in compressed columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactorPattern {
    /// Where each column begins, and the number of entries.
    pub starts: Vec<usize>,
    /// The row of each entry, ascending in a column.
    pub rows: Vec<u32>,
    /// Its place in the factor's buffer.
    pub places: Vec<usize>,
}

impl Symbolic {
    /// The pattern of the factor in compressed columns, rows and columns in the order of elimination, without the
    /// zeros that supernodes store; and the place of each entry in the factor's buffer.
    #[must_use]
    pub fn factor_pattern(&self) -> FactorPattern {
        let place: Vec<usize> = inverse(self.permutation().iter().map(|&column| column as usize));
        let (starts, rows) = factor_columns(&upper(self.pattern(), &place));
        let mut places = Vec::with_capacity(rows.len());
        for node in &self.supernodes {
            for j in 0..node.width {
                let mut at = 0;
                for &row in &rows[starts[node.first + j]..starts[node.first + j + 1]] {
                    while self.rows(node)[at] != row {
                        at += 1;
                    }
                    places.push(node.panel + j * node.height + at);
                }
            }
        }
        FactorPattern {
            starts,
            rows,
            places,
        }
    }
}

/// Where each column of the factor begins, with the number of its entries at the end, and their rows. `upper` has the
/// entries above the diagonal of the matrix.
pub(crate) fn factor_columns(upper: &Graph) -> (Vec<usize>, Vec<u32>) {
    let parent = elimination_tree(upper);
    let mut starts = vec![0];
    for count in column_counts(upper, &parent) {
        starts.push(starts[starts.len() - 1] + count);
    }
    let mut next = starts.clone();
    let mut rows = vec![0; starts[parent.len()]];
    for column in 0..parent.len() {
        rows[next[column]] = column as u32;
        next[column] += 1;
    }
    each_entry(upper, &parent, |row, column| {
        rows[next[column]] = row as u32;
        next[column] += 1;
    });
    (starts, rows)
}
