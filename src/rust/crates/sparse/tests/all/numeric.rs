//! Factors, solutions, determinants and inverses.

use crate::matrices::MEMORY;
use crate::matrices::{all, assert_near, cholesky, grid, inverse, Matrix, Random};
use sparse::{Float, Number, Symbolic, System};

fn factor(symbolic: &Symbolic, values: &[f64]) -> Vec<f64> {
    let mut factor = vec![1.5; symbolic.factor_len()];
    assert_eq!(
        Float::cholesky(symbolic, values, &mut factor).expect(MEMORY),
        0
    );
    factor
}

/// The matrix in the order of elimination.
fn permuted(symbolic: &Symbolic, dense: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let order = symbolic.permutation();
    let row = |&i: &u32| {
        let row = &dense[i as usize];
        order.iter().map(|&j| row[j as usize]).collect()
    };
    order.iter().map(row).collect()
}

#[test]
fn factors_are_those_of_dense_matrices() {
    for (name, matrix) in all() {
        let symbolic = matrix.symbolic();
        let factor = factor(&symbolic, &matrix.values);
        let dense = cholesky(&permuted(&symbolic, &matrix.dense(&matrix.values)));
        let pattern = symbolic.factor_pattern();
        let mut got = vec![vec![0.0; matrix.n]; matrix.n];
        for (j, rows_of) in pattern.starts.windows(2).enumerate() {
            let entries = rows_of[0]..rows_of[1];
            let rows = &pattern.rows[entries.clone()];
            assert!(rows[0] == j as u32 && rows.windows(2).all(|two| two[0] < two[1]));
            for entry in entries {
                got[pattern.rows[entry] as usize][j] = factor[pattern.places[entry]];
            }
        }
        assert_near(&got.concat(), &dense.concat(), f64::EPSILON, &name);
        // What the pattern does not have is 0 in the buffer.
        let mut rest = factor.clone();
        for &place in &pattern.places {
            rest[place] = 0.0;
        }
        assert!(rest.iter().all(|&x| x == 0.0), "{name}");
        let diagonal = symbolic.diagonal();
        let starts = pattern.starts[..matrix.n].iter();
        assert!(starts
            .map(|&start| pattern.places[start])
            .eq(diagonal.iter().copied()));
        let logs: f64 = dense.iter().enumerate().map(|(i, row)| row[i].ln()).sum();
        assert_near(
            &[symbolic.log_determinant(&factor)],
            &[2.0 * logs],
            f64::EPSILON,
            &name,
        );
    }
}

#[test]
fn equations_are_solved() {
    for (name, matrix) in all() {
        let (symbolic, n) = (matrix.symbolic(), matrix.n);
        let factor = factor(&symbolic, &matrix.values);
        let dense = matrix.dense(&matrix.values);
        let l = cholesky(&permuted(&symbolic, &dense));
        let order = symbolic.permutation();
        for columns in [0, 1, 3] {
            let b = Random(5).vector(n * columns);
            let solved = |system| {
                let mut x = vec![9.0; b.len()];
                symbolic.solve(&factor, system, &b, &mut x).expect(MEMORY);
                x
            };
            let check = |system, back: &dyn Fn(&[f64], usize) -> f64| {
                let x = solved(system);
                let columns = (0..columns).map(|c| &x[c * n..][..n]);
                let got: Vec<f64> = columns
                    .flat_map(|x| (0..n).map(move |i| back(x, i)))
                    .collect();
                assert_near(&got, &b, f64::EPSILON, &format!("{name}, {system:?}"));
            };
            check(System::Whole, &|x, i| {
                (0..n).map(|j| dense[i][j] * x[j]).sum()
            });
            check(System::Lower, &|x, i| {
                let row = order
                    .iter()
                    .position(|&at| at as usize == i)
                    .expect("a row");
                (0..n).map(|j| l[row][j] * x[j]).sum()
            });
            check(System::Transposed, &|x, i| {
                (0..n).map(|j| l[j][i] * x[order[j] as usize]).sum()
            });
        }
    }
}

#[test]
fn inverses_are_those_of_dense_matrices() {
    for (name, matrix) in all() {
        let symbolic = matrix.symbolic();
        let factor = factor(&symbolic, &matrix.values);
        let mut got = vec![7.0; matrix.values.len()];
        Float::inverse(&symbolic, &factor, &mut got).expect(MEMORY);
        let want = matrix.sampled(&inverse(&matrix.dense(&matrix.values)));
        assert_near(&got, &want, f64::EPSILON, &name);
    }
}

#[test]
fn single_precision_is_as_near_as_it_can_be() {
    let matrix = grid(9, 14);
    let symbolic = matrix.symbolic();
    let values: Vec<f32> = matrix.values.iter().map(|&x| x as f32).collect();
    let mut factor = vec![0_f32; symbolic.factor_len()];
    assert_eq!(
        Float::cholesky(&symbolic, &values, &mut factor).expect(MEMORY),
        0
    );
    let mut got = vec![0_f32; values.len()];
    Float::inverse(&symbolic, &factor, &mut got).expect(MEMORY);
    let got: Vec<f64> = got.into_iter().map(f64::from).collect();
    let want = matrix.sampled(&inverse(&matrix.dense(&matrix.values)));
    assert_near(&got, &want, f32::EPSILON.into(), "f32");
}

/// Makes a matrix indefinite at one column, which is then told.
#[test]
fn what_is_not_positive_definite_is_told_with_its_column() {
    for (name, matrix) in all().into_iter().filter(|(_, matrix)| matrix.n > 0) {
        let symbolic = matrix.symbolic();
        for bad in [-1e9, 0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for column in [0, matrix.n / 2, matrix.n - 1] {
                let mut values = matrix.values.clone();
                values[matrix.colptr[column] as usize] = bad;
                let mut factor = vec![0.0; symbolic.factor_len()];
                let info = Float::cholesky(&symbolic, &values, &mut factor).expect(MEMORY);
                assert!(factor.iter().all(|x| x.is_nan()), "{name} {bad} {column}");
                if bad == 0.0 {
                    assert!(info > 0 && info as usize <= matrix.n);
                } else {
                    assert_eq!(info as usize, column + 1, "{name} {bad}");
                }
            }
        }
    }
}

#[test]
fn a_missing_diagonal_is_a_zero_there() {
    let pattern = sparse::Pattern::new(3, &[0, 2, 2, 3], &[0, 1, 2]).expect("a pattern");
    let symbolic = Symbolic::new(&pattern);
    let mut factor = vec![0.0; symbolic.factor_len()];
    assert_eq!(
        Float::cholesky(&symbolic, &[4.0, 1.0, 1.0], &mut factor).expect(MEMORY),
        2
    );
    let nothing = sparse::Pattern::new(2, &[0, 0, 0], &[]).expect("a pattern");
    let symbolic = Symbolic::new(&nothing);
    let mut factor = vec![0.0; symbolic.factor_len()];
    assert_eq!(
        Float::cholesky(&symbolic, &[], &mut factor).expect(MEMORY),
        symbolic.permutation()[0] as i32 + 1
    );
}

/// A factor is used again for matrices of the same pattern, whatever it held.
#[test]
fn results_repeat() {
    let Matrix { values, .. } = grid(20, 20);
    let symbolic = grid(20, 20).symbolic();
    let first = factor(&symbolic, &values);
    let mut again = vec![f64::NAN; first.len()];
    assert_eq!(
        Float::cholesky(&symbolic, &values, &mut again).expect(MEMORY),
        0
    );
    assert_eq!(first, again);
    let other = grid(20, 20).symbolic();
    assert_eq!(other.permutation(), symbolic.permutation());
    assert!(!f64::NAN.is_pivot() && 1.0_f64.is_pivot());
}

/// Supernodes of more columns than one part, above large updates
#[test]
fn wide_supernodes_are_factored_and_inverted() {
    let cliques = [0..230, 90..300];
    let pairs = cliques
        .into_iter()
        .flat_map(|rows| {
            rows.clone()
                .flat_map(move |i| rows.clone().map(move |j| (i, j)))
        })
        .filter(|(i, j)| i > j);
    let matrix = Matrix::of(300, pairs.collect());
    let symbolic = matrix.symbolic();
    let factor = factor(&symbolic, &matrix.values);
    let dense = matrix.dense(&matrix.values);
    let mut got = vec![0.0; matrix.values.len()];
    Float::inverse(&symbolic, &factor, &mut got).expect(MEMORY);
    let want = matrix.sampled(&inverse(&dense));
    assert_near(&got, &want, f64::EPSILON, "inverse");
    let b = Random(7).vector(matrix.n);
    let mut x = vec![0.0; matrix.n];
    symbolic
        .solve(&factor, System::Whole, &b, &mut x)
        .expect(MEMORY);
    let back: Vec<f64> = dense
        .iter()
        .map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum())
        .collect();
    assert_near(&back, &b, f64::EPSILON, "solution");
}
