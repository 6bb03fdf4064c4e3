//! Kinds of test matrices.

use super::smallest;
use crate::common::{Mat, Number, Random, C};

/// Powers of ten that a dtype's graded matrices span, up and down: products of two such numbers
/// neither overflow nor vanish.
fn span<T: Number>() -> f64 {
    if T::EPS < 1e-10 {
        150.0
    } else {
        18.0
    }
}

/// Named matrices of `m` × `n`; `hermitian` ones are square.
pub fn kinds<T: Number>(m: usize, n: usize, hermitian: bool) -> Vec<(&'static str, Vec<T>)> {
    let mut random = Random(91);
    let dense = if hermitian {
        Mat::new::<T>(n, n, &random.hermitian(n))
    } else {
        Mat::new::<T>(m, n, &random.matrix(m * n))
    };
    // From 10^-span to 10^span along the diagonal, half of it by the row and half by the column.
    let grade = |i: usize, size: usize| {
        let at = i as f64 / (size.max(2) - 1) as f64;
        10_f64.powf((at - 0.5) * span::<T>())
    };
    let graded = |up: bool| {
        Mat::make(m, n, |i, j| {
            let (row, column) = if up { (i, j) } else { (m - 1 - i, n - 1 - j) };
            dense.at(i, j) * (grade(row, m) * grade(column, n))
        })
    };
    let whole = |value: f64| C::new(value, 0.0);
    [
        ("random", dense.clone()),
        ("graded upwards", graded(true)),
        ("graded downwards", graded(false)),
        (
            "large",
            dense.times(&Mat::identity(n).plus(&Mat::identity(n), 10_f64.powf(span::<T>()))),
        ),
        (
            "small",
            dense.times(&Mat::identity(n).plus(&Mat::identity(n), 10_f64.powf(-span::<T>()) - 1.0)),
        ),
        (
            "denormal",
            Mat::make(m, n, |i, j| {
                whole(smallest::<T>() * ((i + j) % 17 + i * j % 29) as f64)
            }),
        ),
        (
            "Hilbert",
            Mat::make(m, n, |i, j| whole(1.0 / (i + j + 1) as f64)),
        ),
        ("zero", Mat::make(m, n, |_, _| C::default())),
        (
            "identity",
            Mat::make(m, n, |i, j| whole(f64::from(u8::from(i == j)))),
        ),
        (
            "rank one",
            Mat::make(m, n, |i, j| whole((i + 1) as f64 * (j + 1) as f64)),
        ),
        (
            "clustered",
            Mat::make(m, n, |i, j| {
                let unit = if i == j { 1.0 } else { 0.0 };
                whole(unit)
                    + dense.at(i.min(j), i.max(j).min(n - 1)) * if hermitian { 0.0 } else { 1e-6 }
            }),
        ),
    ]
    .into_iter()
    .map(|(name, matrix)| (name, matrix.to()))
    .collect()
}

/// The order of those matrices: past the block edge, yet quick.
pub const ORDER: usize = 40;
