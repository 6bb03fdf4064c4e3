//! What is measured of matrices with their rows in lanes, and how much of it there may be.

use crate::*;

/// What LAPACK's own tests allow, in roundings for each row.
pub const RATIO: f64 = 30.0;

/// What may be between two ways to the values, in roundings of the norm.
pub const APART: f64 = 20.0;

pub fn eps<T: Real>() -> f64 {
    2.0 * T::ROUNDING.f64()
}

/// The largest sum of a column.
pub fn norm1(a: &Matrix) -> f64 {
    let columns = a.data.chunks_exact(a.rows);
    columns.fold(0.0, |most, column| {
        column.iter().map(|x| x.abs()).sum::<f64>().max(most)
    })
}

/// The norm of the difference.
pub fn less(a: &Matrix, b: &Matrix) -> f64 {
    norm1(&Matrix::from_fn(a.rows, a.cols(), |i, j| {
        a.at(i, j) - b.at(i, j)
    }))
}

/// To the last bit; the numbers are too many to be shown.
#[track_caller]
pub fn expect_same<T: Real>(a: &Results<T>, b: &Results<T>, what: &str) {
    assert!(a.bits() == b.bits(), "{what}");
}

#[track_caller]
pub fn expect_values<T: Real>(what: &str, s: &[T], known: &[f64], norm: f64) {
    for (s, known) in s.iter().zip(known) {
        let apart = (s.f64() - known).abs() / norm / eps::<T>();
        assert!(apart <= APART, "{what}: {s:?} for {known}");
    }
}
