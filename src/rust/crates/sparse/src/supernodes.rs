//! Supernodes: neighbouring columns of the factor with the same rows below them, stored as one dense panel.

use crate::tree::{Graph, NONE};

/// Columns that are always put together; and up to how many columns which share of zeros is stored for it. The numbers
/// are those of CHOLMOD.
const ALWAYS: usize = 4;
const SHARES: [(usize, f64); 3] = [(16, 0.8), (48, 0.1), (usize::MAX, 0.05)];

/// The first column of each supernode, and the number of columns behind them. Columns are in postorder.
pub(crate) fn first_columns(parent: &[usize], counts: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let mut first = Vec::new();
    for j in 0..n {
        let joins = j > 0 && parent[j - 1] == j && counts[j - 1] == counts[j] + 1;
        if !joins {
            first.push(j);
        }
    }
    first.push(n);
    relaxed(&first, parent, counts)
}

/// Puts supernodes together with the parent that stands behind them, where few zeros are stored for it.
fn relaxed(first: &[usize], parent: &[usize], counts: &[usize]) -> Vec<usize> {
    let n = parent.len();
    // What has been put together, the last on top: end, rows of the first column, zeros among them.
    let mut groups: Vec<Group> = Vec::new();
    for pair in first.windows(2).rev() {
        let (begin, end) = (pair[0], pair[1]);
        let mut new = Group {
            begin,
            end,
            rows: counts[begin],
            zeros: 0.0,
        };
        if let Some(behind) = groups.last() {
            let up = parent[end - 1];
            if up != NONE && up < behind.end {
                let together = new.and(behind);
                if together.pays() {
                    new = together;
                    groups.pop();
                }
            }
        }
        groups.push(new);
    }
    let mut first: Vec<usize> = groups.iter().rev().map(|group| group.begin).collect();
    first.push(n);
    first
}

struct Group {
    begin: usize,
    end: usize,
    rows: usize,
    zeros: f64,
}

impl Group {
    fn columns(&self) -> usize {
        self.end - self.begin
    }

    fn and(&self, behind: &Group) -> Group {
        let columns = self.columns();
        let rows = columns + behind.rows;
        let new_zeros = columns as f64 * (rows as f64 - self.rows as f64);
        Group {
            begin: self.begin,
            end: behind.end,
            rows,
            zeros: self.zeros + behind.zeros + new_zeros,
        }
    }

    fn pays(&self) -> bool {
        let columns = self.columns();
        if columns <= ALWAYS || self.zeros == 0.0 {
            return true;
        }
        let wide = columns as f64;
        let size = wide * (wide + 1.0) / 2.0 + wide * (self.rows - columns) as f64;
        let share = self.zeros / size;
        SHARES
            .iter()
            .any(|&(most, limit)| columns <= most && share < limit)
    }
}

/// The rows of each supernode, with those of its own columns, ascending: `rows[starts[s]..starts[s + 1]]`; and each
/// supernode's parent.
pub(crate) fn rows(first: &[usize], of_column: &[u32], lower: &Graph) -> (Graph, Vec<usize>) {
    let count = first.len() - 1;
    let mut starts = vec![0];
    let mut rows: Vec<u32> = Vec::new();
    let mut parent = vec![NONE; count];
    // Lists of children, as they are found.
    let (mut child, mut next) = (vec![NONE; count], vec![NONE; count]);
    let mut seen = vec![NONE; of_column.len()];
    for s in 0..count {
        let (begin, end) = (first[s], first[s + 1]);
        let start = rows.len();
        for column in begin..end {
            rows.push(column as u32);
        }
        let mut add = |rows: &mut Vec<u32>, row: u32| {
            let place = &mut seen[row as usize];
            if row as usize >= end && *place != s {
                *place = s;
                rows.push(row);
            }
        };
        for column in begin..end {
            for &row in lower.column(column) {
                add(&mut rows, row);
            }
        }
        let mut c = child[s];
        while c != NONE {
            for at in starts[c]..starts[c + 1] {
                let row = rows[at];
                add(&mut rows, row);
            }
            c = next[c];
        }
        rows[start..].sort_unstable();
        starts.push(rows.len());
        if let Some(&below) = rows.get(start + end - begin) {
            let up = of_column[below as usize] as usize;
            parent[s] = up;
            next[s] = child[up];
            child[up] = s;
        }
    }
    (Graph { starts, rows }, parent)
}
