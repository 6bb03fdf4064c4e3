//! Derivatives of the inverse beside sums of products of dense inverses.

use crate::matrices::{all, assert_near, inverse, product, Matrix, Random, MEMORY};
use sparse::Float;

/// The sum over all orders of the directions of `Z D Z D … Z`, with its sign.
fn expected(matrix: &Matrix, directions: &[Vec<f64>]) -> Vec<f64> {
    let z = inverse(&matrix.dense(&matrix.values));
    let dense: Vec<_> = directions.iter().map(|d| matrix.dense(d)).collect();
    let mut sum = vec![0.0; matrix.values.len()];
    each_order(&mut (0..directions.len()).collect(), 0, &mut |order| {
        let mut term = z.clone();
        for &at in order {
            term = product(&product(&term, &dense[at]), &z);
        }
        let sign = if order.len() % 2 == 1 { -1.0 } else { 1.0 };
        for (sum, term) in sum.iter_mut().zip(matrix.sampled(&term)) {
            *sum += sign * term;
        }
    });
    sum
}

fn each_order(order: &mut Vec<usize>, from: usize, f: &mut dyn FnMut(&[usize])) {
    if from == order.len() {
        return f(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        each_order(order, from + 1, f);
        order.swap(from, at);
    }
}

#[test]
fn derivatives_of_every_order() {
    for (name, matrix) in all() {
        let (symbolic, mut random) = (matrix.symbolic(), Random(3));
        let most = match matrix.n {
            0..=5 => 4,
            6..=40 => 3,
            _ => 1,
        };
        for order in 1..=most {
            let directions: Vec<_> = (0..order)
                .map(|_| random.vector(matrix.values.len()))
                .collect();
            let along: Vec<&[f64]> = directions.iter().map(Vec::as_slice).collect();
            let mut got = vec![2.0; matrix.values.len()];
            Float::inverse_derivative(&symbolic, &matrix.values, &along, &mut got).expect(MEMORY);
            let want = expected(&matrix, &directions);
            assert_near(&got, &want, f64::EPSILON, &format!("{name}, order {order}"));
        }
    }
}

#[test]
fn there_is_none_where_the_matrix_is_not_positive_definite() {
    let mut matrix = Matrix::of(4, vec![(1, 0), (3, 2)]);
    matrix.values[0] = -1.0;
    let along = vec![1.0; matrix.values.len()];
    let mut got = vec![0.0; along.len()];
    let symbolic = matrix.symbolic();
    Float::inverse_derivative(&symbolic, &matrix.values, &[&along], &mut got).expect(MEMORY);
    assert!(got.iter().all(|x| x.is_nan()));
}
