//! An order of elimination in which the factor stays sparse: approximate minimum degree. P. R. Amestoy, T. A. Davis and
//! I. S. Duff, "Algorithm 837: AMD, an approximate minimum degree ordering algorithm", ACM Trans. Math. Softw. 30 (2004).

use crate::pattern::Pattern;

/// The columns of the matrix in the order in which they are eliminated.
pub(crate) fn minimum_degree(pattern: &Pattern) -> Vec<usize> {
    let columns = pattern.columns();
    let mut starts = vec![0];
    let mut rows = Vec::with_capacity(pattern.nnz() + pattern.n());
    for column in 0..pattern.n() {
        // The diagonal is there whether it is stored or not.
        rows.push(column);
        let below = columns.column(column).iter().map(|&row| row as usize);
        rows.extend(below.filter(|&row| row != column));
        starts.push(rows.len());
    }
    match amd::order(pattern.n(), &starts, &rows, &amd::Control::default()) {
        Ok((order, _, _)) => order,
        // It refuses patterns that are none, which this one is not.
        Err(_) => (0..pattern.n()).collect(),
    }
}
