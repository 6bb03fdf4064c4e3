//! Products with dense matrices.

use crate::matrices::{assert_near, Random};
use sparse::Columns;

#[test]
fn products_are_those_of_dense_matrices() {
    let mut random = Random(11);
    for (nrow, ncol) in [(0, 0), (0, 3), (3, 0), (1, 1), (7, 4), (4, 7), (30, 30)] {
        let (mut colptr, mut rowind) = (vec![0], Vec::new());
        for _ in 0..ncol {
            rowind.extend((0..nrow as i32).filter(|_| random.next() < 0.4));
            colptr.push(rowind.len() as i32);
        }
        let columns = Columns::new(nrow, ncol, &colptr, &rowind).expect("a pattern");
        assert!(columns.is(nrow, ncol, &colptr, &rowind));
        let (nrow, ncol) = (nrow as usize, ncol as usize);
        let values = random.vector(rowind.len());
        let entry = |at: usize, i: usize| {
            let place = columns.column(at).binary_search(&(i as i32)).ok();
            place.map_or(0.0, |place| values[columns.entries(at).start + place])
        };
        let row = |i: usize| (0..ncol).map(|j| entry(j, i)).collect();
        let dense: Vec<Vec<f64>> = (0..nrow).map(row).collect();
        for k in [1, 3] {
            let (long, wide) = (random.vector(ncol * k), random.vector(nrow * k));
            let mut got = vec![5.0; nrow * k];
            columns.product(&values, false, &long, &mut got);
            let entry = |i: usize, c: usize| -> f64 {
                (0..ncol).map(|j| dense[i][j] * long[c * ncol + j]).sum()
            };
            let want: Vec<f64> = (0..k)
                .flat_map(|c| (0..nrow).map(move |i| (i, c)))
                .map(|(i, c)| entry(i, c))
                .collect();
            assert_near(&got, &want, f64::EPSILON, "A x");
            let mut got = vec![5.0; ncol * k];
            columns.product(&values, true, &wide, &mut got);
            let entry = |j: usize, c: usize| -> f64 {
                (0..nrow).map(|i| dense[i][j] * wide[c * nrow + i]).sum()
            };
            let want: Vec<f64> = (0..k)
                .flat_map(|c| (0..ncol).map(move |j| (j, c)))
                .map(|(j, c)| entry(j, c))
                .collect();
            assert_near(&got, &want, f64::EPSILON, "A' x");
            let mut got = vec![5.0; values.len()];
            columns.sampled_product(&wide, &long, &mut got);
            let mut want = Vec::new();
            for j in 0..ncol {
                for &i in columns.column(j) {
                    let term = |c: usize| wide[c * nrow + i as usize] * long[c * ncol + j];
                    want.push((0..k).map(term).sum());
                }
            }
            assert_near(&got, &want, f64::EPSILON, "U V'");
        }
    }
}
