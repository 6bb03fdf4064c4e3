//! The elimination tree: the parent of a column is the row of the first entry below the diagonal of the factor.
//! J. W. H. Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11 (1990).

/// No column.
pub(crate) const NONE: usize = usize::MAX;

/// Entries of a square matrix by column, without the diagonal: `rows[starts[j]..starts[j + 1]]`.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub starts: Vec<usize>,
    pub rows: Vec<u32>,
}

impl Graph {
    /// Of pairs of column and row, which are gone through twice. Rows are in the order of the pairs.
    pub fn of(n: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Graph {
        let mut starts = vec![0; n + 1];
        for (column, _) in pairs.clone() {
            starts[column + 1] += 1;
        }
        for column in 0..n {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[n]];
        for (column, row) in pairs {
            rows[next[column]] = row as u32;
            next[column] += 1;
        }
        Graph { starts, rows }
    }

    pub fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.starts[j]..self.starts[j + 1]]
    }
}

/// The parent of each column, [`NONE`] for a root. `upper` has the entries above the diagonal.
pub(crate) fn elimination_tree(upper: &Graph) -> Vec<usize> {
    let n = upper.starts.len() - 1;
    let mut parent = vec![NONE; n];
    // The highest ancestor known so far, with shortened paths.
    let mut ancestor = vec![NONE; n];
    for j in 0..n {
        for &row in upper.column(j) {
            let mut i = row as usize;
            while i != NONE && i != j {
                let next = ancestor[i];
                ancestor[i] = j;
                if next == NONE {
                    parent[i] = j;
                }
                i = next;
            }
        }
    }
    parent
}

/// Calls `f` with row and column of each entry of the factor below the diagonal, the rows ascending.
pub(crate) fn each_entry(upper: &Graph, parent: &[usize], mut f: impl FnMut(usize, usize)) {
    let n = parent.len();
    let mut seen = vec![NONE; n];
    for row in 0..n {
        seen[row] = row;
        for &column in upper.column(row) {
            let mut column = column as usize;
            while seen[column] != row {
                seen[column] = row;
                f(row, column);
                column = parent[column];
            }
        }
    }
}

/// How many entries each column of the factor has, with the diagonal.
pub(crate) fn column_counts(upper: &Graph, parent: &[usize]) -> Vec<usize> {
    let mut counts = vec![1; parent.len()];
    each_entry(upper, parent, |_, column| counts[column] += 1);
    counts
}

/// The columns in an order in which each stands behind its descendants, and those of a subtree side by side;
/// of several children, the one with the largest weight is last.
pub(crate) fn postorder(parent: &[usize], weight: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let mut by_weight: Vec<usize> = (0..n).collect();
    by_weight.sort_by_key(|&column| weight[column]);
    // Lists of children: the last one put in is the first.
    let (mut first, mut next) = (vec![NONE; n], vec![NONE; n]);
    for &column in by_weight.iter().rev() {
        if parent[column] != NONE {
            next[column] = first[parent[column]];
            first[parent[column]] = column;
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut path = Vec::new();
    for root in (0..n).filter(|&column| parent[column] == NONE) {
        path.push(root);
        while let Some(&column) = path.last() {
            let child = first[column];
            if child == NONE {
                order.push(column);
                path.pop();
            } else {
                first[column] = next[child];
                path.push(child);
            }
        }
    }
    order
}
