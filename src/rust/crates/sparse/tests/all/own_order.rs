//! The factor in the matrix's own order beside dense ones; its derivatives beside differences and each other.

use crate::matrices::{all, assert_near, cholesky, Matrix, Random, MEMORY};
use sparse::{Float, OwnOrder};

/// The derivative of the factor in the directions.
fn factor(own: &OwnOrder, a: &[f64], directions: &[&[f64]]) -> Vec<f64> {
    let mut factor = vec![1.5; own.rows().len()];
    Float::own_factor(own, a, directions, &mut factor).expect(MEMORY);
    factor
}

fn pullback(own: &OwnOrder, a: &[f64], weights: &[f64], directions: &[&[f64]]) -> Vec<f64> {
    let mut result = vec![1.5; a.len()];
    Float::own_pullback(own, a, weights, directions, &mut result).expect(MEMORY);
    result
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn factors_are_those_of_dense_matrices() {
    for (name, matrix) in all() {
        let own = OwnOrder::new(&matrix.pattern());
        let values = factor(&own, &matrix.values, &[]);
        let mut got = vec![vec![0.0; matrix.n]; matrix.n];
        for (j, entries) in own.starts().windows(2).enumerate() {
            let rows = &own.rows()[entries[0]..entries[1]];
            assert!(rows[0] == j as u32 && rows.windows(2).all(|two| two[0] < two[1]));
            for (&row, &value) in rows.iter().zip(&values[entries[0]..]) {
                got[row as usize][j] = value;
            }
        }
        let want = cholesky(&matrix.dense(&matrix.values));
        assert_near(&got.concat(), &want.concat(), f64::EPSILON, &name);
    }
}

#[test]
fn derivatives_are_those_of_the_product_and_their_transposes() {
    for (name, matrix) in all().into_iter().filter(|(_, matrix)| matrix.n <= 60) {
        let own = OwnOrder::new(&matrix.pattern());
        let mut random = Random(11);
        let mut vector = |len| random.vector(len);
        let (nnz, len) = (matrix.values.len(), own.rows().len());
        let all: Vec<Vec<f64>> = (0..4).map(|_| vector(nnz)).collect();
        let directions: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let (a, weights) = (&matrix.values, vector(len));
        for order in 1..=4 {
            // Central differences of the order below.
            let (first, last) = directions[..order].split_at(order - 1);
            let step = 1e-6;
            let moved =
                |by: f64| -> Vec<f64> { a.iter().zip(last[0]).map(|(a, d)| a + by * d).collect() };
            let quotient = |ahead: Vec<f64>, behind: Vec<f64>| -> Vec<f64> {
                let pairs = ahead.iter().zip(&behind);
                pairs.map(|(x, y)| (x - y) / (2.0 * step)).collect()
            };
            let (ahead, behind) = (moved(step), moved(-step));
            let what = format!("{name}, order {order}");
            let got = factor(&own, a, &directions[..order]);
            let want = quotient(factor(&own, &ahead, first), factor(&own, &behind, first));
            assert_near(&got, &want, 1e-10, &what);
            let pulled = pullback(&own, a, &weights, &directions[..order]);
            let want = quotient(
                pullback(&own, &ahead, &weights, first),
                pullback(&own, &behind, &weights, first),
            );
            assert_near(&pulled, &want, 1e-10, &what);
            // The derivative in one more direction is what the pullback has with that direction.
            let sides = [
                dot(&weights, &got),
                dot(&pullback(&own, a, &weights, first), last[0]),
            ];
            assert_near(&sides[..1], &sides[1..], 1e-13, &what);
        }
    }
}

#[test]
fn there_is_none_where_the_matrix_is_not_positive_definite() {
    let mut matrix = Matrix::of(4, vec![(1, 0), (3, 2)]);
    matrix.values[0] = f64::NAN;
    let own = OwnOrder::new(&matrix.pattern());
    assert!(factor(&own, &matrix.values, &[]).iter().all(|x| x.is_nan()));
    let pulled = pullback(&own, &matrix.values, &vec![1.0; own.rows().len()], &[]);
    assert!(pulled.iter().all(|x| x.is_nan()));
}
