//! Matrices to test with, and what they are in dense arithmetic.

use sparse::{Pattern, Symbolic};

pub const MEMORY: &str = "memory to work in";

/// Reproducible numbers in `[0, 1)`.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| 2.0 * self.next() - 1.0).collect()
    }
}

/// The lower triangle of a symmetric matrix.
#[derive(Clone)]
pub struct Matrix {
    pub n: usize,
    pub colptr: Vec<i32>,
    pub rowind: Vec<i32>,
    pub values: Vec<f64>,
}

impl Matrix {
    /// Of pairs of row and column below the diagonal, in any order; positive definite.
    pub fn of(n: usize, mut pairs: Vec<(usize, usize)>) -> Matrix {
        let mut random = Random(n as u64 + 7 * pairs.len() as u64);
        pairs.extend((0..n).map(|j| (j, j)));
        for pair in &mut pairs {
            *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut colptr = vec![0; n + 1];
        let mut diagonal = vec![0.5; n];
        let mut values = Vec::new();
        for &(column, row) in &pairs {
            colptr[column + 1] += 1;
            let value = random.next() - 0.6;
            values.push(value);
            diagonal[column] += value.abs();
            diagonal[row] += value.abs();
        }
        for j in 0..n {
            colptr[j + 1] += colptr[j];
        }
        for (value, &(column, row)) in values.iter_mut().zip(&pairs) {
            if column == row {
                *value = diagonal[column];
            }
        }
        let rowind = pairs.iter().map(|pair| pair.1 as i32).collect();
        Matrix {
            n,
            colptr,
            rowind,
            values,
        }
    }

    pub fn pattern(&self) -> Pattern {
        Pattern::new(self.n as i64, &self.colptr, &self.rowind).expect("a pattern")
    }

    pub fn symbolic(&self) -> Symbolic {
        Symbolic::new(&self.pattern())
    }

    /// Row and column of each entry.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let column = |j: usize| {
            let entries = self.colptr[j] as usize..self.colptr[j + 1] as usize;
            self.rowind[entries].iter().map(move |&i| (i as usize, j))
        };
        (0..self.n).flat_map(column).collect()
    }

    /// Values at its entries as a dense symmetric matrix.
    pub fn dense(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let mut dense = vec![vec![0.0; self.n]; self.n];
        for ((i, j), &value) in self.pairs().into_iter().zip(values) {
            dense[i][j] = value;
            dense[j][i] = value;
        }
        dense
    }

    /// A dense matrix at its entries.
    pub fn sampled(&self, dense: &[Vec<f64>]) -> Vec<f64> {
        self.pairs().iter().map(|&(i, j)| dense[i][j]).collect()
    }
}

pub fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(x, b)| x * b[j]).sum();
    a.iter()
        .map(|row| (0..columns).map(|j| entry(row, j)).collect())
        .collect()
}

/// The dense lower factor.
pub fn cholesky(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut l = vec![vec![0.0; n]; n];
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            l[i][j] = if i == j {
                (a[j][j] - sum).sqrt()
            } else {
                (a[i][j] - sum) / l[j][j]
            };
        }
    }
    l
}

/// The inverse, from the factor.
pub fn inverse(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, l) = (a.len(), cholesky(a));
    let mut inverse = vec![vec![0.0; n]; n];
    for column in 0..n {
        let mut x = vec![0.0; n];
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| l[i][k] * x[k]).sum();
            x[i] = (f64::from(u8::from(i == column)) - sum) / l[i][i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / l[i][i];
        }
        for (row, x) in inverse.iter_mut().zip(x) {
            row[column] = x;
        }
    }
    inverse
}

pub fn grid(rows: usize, columns: usize) -> Matrix {
    let mut pairs = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let at = i * columns + j;
            if j + 1 < columns {
                pairs.push((at, at + 1));
            }
            if i + 1 < rows {
                pairs.push((at, at + columns));
            }
        }
    }
    Matrix::of(rows * columns, pairs)
}

pub fn random(n: usize, count: usize) -> Matrix {
    let mut random = Random(count as u64);
    let mut at = || (random.next() * n as f64) as usize;
    Matrix::of(n, (0..count).map(|_| (at(), at())).collect())
}

/// Matrices of every kind, with names.
pub fn all() -> Vec<(String, Matrix)> {
    let dense = |n: usize| (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let mut all = vec![
        ("empty", Matrix::of(0, vec![])),
        ("one", Matrix::of(1, vec![])),
        ("two", Matrix::of(2, vec![])),
        ("two, dense", Matrix::of(2, vec![(1, 0)])),
        ("diagonal", Matrix::of(30, vec![])),
        ("dense", Matrix::of(37, dense(37))),
        ("large, dense", Matrix::of(150, dense(150))),
        ("arrow", Matrix::of(60, (1..60).map(|i| (i, 0)).collect())),
        (
            "tridiagonal",
            Matrix::of(80, (1..80).map(|i| (i, i - 1)).collect()),
        ),
        (
            "ring",
            Matrix::of(50, (0..50).map(|i| (i, (i + 1) % 50)).collect()),
        ),
        ("grid", grid(12, 17)),
        (
            "parts",
            Matrix::of(
                90,
                (0..90).filter(|i| i % 7 > 0).map(|i| (i, i - 1)).collect(),
            ),
        ),
        (
            "band",
            Matrix::of(
                120,
                (0..960)
                    .map(|k| (k / 8, (k / 8 + k % 8).min(119)))
                    .collect(),
            ),
        ),
    ]
    .into_iter()
    .map(|(name, matrix)| (name.to_owned(), matrix))
    .collect::<Vec<_>>();
    for (n, count) in [(5, 4), (20, 15), (40, 60), (80, 80), (150, 230), (150, 900)] {
        all.push((format!("random {n} {count}"), random(n, count)));
    }
    all
}

/// Whether all numbers are equal but for some units of rounding of the largest.
#[track_caller]
pub fn assert_near(got: &[f64], want: &[f64], epsilon: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let largest = want.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    for (at, (got, want)) in got.iter().zip(want).enumerate() {
        let off = (got - want).abs() / largest;
        assert!(off < 500.0 * epsilon, "{what}: {got}, not {want}, at {at}");
    }
}
