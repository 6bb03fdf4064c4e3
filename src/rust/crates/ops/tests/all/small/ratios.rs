//! LAPACK's test ratios (LAWN 41), over its kinds of matrices and at every scale.

use super::*;
use crate::common::{assert_small, for_every_dtype, Mat, Number, Random, C};

/// Names and matrices of `m` × `n`: LAPACK's kinds for its tests of LU and QR, and graded ones.
fn kinds<T: Number>(m: usize, n: usize) -> Vec<(&'static str, Mat)> {
    let random = Mat::new(m, n, &Random(81).matrix::<T>(m * n));
    let pick = |keep: &dyn Fn(usize, usize) -> bool| {
        Mat::make(m, n, |i, j| {
            if keep(i, j) {
                random.at(i, j)
            } else {
                C::default()
            }
        })
    };
    let times = |factor: &dyn Fn(usize, usize) -> f64| {
        Mat::make(m, n, |i, j| random.at(i, j) * factor(i, j))
    };
    // Safe minimum, and the range of exponents of 10 that leaves room for sums.
    let single = T::EPS > 1e-10;
    let (safmin, range) = if single {
        (f64::from(f32::MIN_POSITIVE), 15)
    } else {
        (f64::MIN_POSITIVE, 150)
    };
    let grade = move |k: usize, of: usize| {
        10_f64.powi(range - (2 * range * k as i32) / (of.max(2) as i32 - 1))
    };
    let eps = T::EPS / 2.0;
    vec![
        ("zero", pick(&|_, _| false)),
        (
            "identity",
            Mat::make(m, n, |i, j| f64::from(u8::from(i == j)).into()),
        ),
        ("diagonal", pick(&|i, j| i == j)),
        ("upper triangular", pick(&|i, j| i <= j)),
        ("lower triangular", pick(&|i, j| i >= j)),
        ("first column zero", pick(&|_, j| j > 0)),
        ("last column zero", pick(&|_, j| j + 1 < n)),
        ("last half zero", pick(&|_, j| j < n.div_ceil(2))),
        ("equal rows", Mat::make(m, n, |_, j| random.at(0, j))),
        (
            "rank one",
            Mat::make(m, n, |i, j| C::from((i + 1) as f64 * (j + 2) as f64)),
        ),
        (
            "Hilbert",
            Mat::make(m, n, |i, j| C::from(1.0 / (i + j + 1) as f64)),
        ),
        ("graded rows", times(&|i, _| grade(i, m))),
        ("graded columns", times(&|_, j| grade(j, n))),
        ("near overflow", times(&|_, _| eps / safmin)),
        ("near underflow", times(&|_, _| safmin / eps)),
        ("subnormal", times(&|_, _| safmin / 64.0)),
        (
            "subnormal and ordinary",
            times(&|i, j| if (i + j) % 3 == 0 { 1.0 } else { safmin / 16.0 }),
        ),
        (
            "last rows subnormal",
            times(&|i, _| if i < m / 2 { 1.0 } else { safmin / 32.0 }),
        ),
    ]
}

/// `|residual| / (size |a| eps)`, where a unit of the smallest subnormal number counts as rounding.
fn scaled_ratio<T: Number>(residual: &Mat, size: usize, norm: f64) -> f64 {
    let least = if T::EPS > 1e-10 {
        f64::from(f32::from_bits(1))
    } else {
        f64::from_bits(1)
    };
    residual.norm1() / (size.max(1) as f64 * (norm * T::EPS).max(least))
}

fn lu_of_every_kind<T: Number>() {
    for (m, n) in [
        (1, 1),
        (2, 2),
        (4, 4),
        (16, 16),
        (13, 9),
        (9, 13),
        (33, 33),
        (65, 65),
        (70, 66),
        (66, 131),
        (130, 100),
        (300, 280),
        (5, 2048),
        (2048, 5),
        (2049, 5),
    ] {
        for (name, a) in kinds::<T>(m, n) {
            let what = format!("lu, {m} x {n}, {name}");
            let x = a.to::<T>();
            let mut permuted = Mat::new(m, n, &x);
            let norm = permuted.norm1();
            let got = results(Getrf, (m, n), &x, &[]);
            for (i, &p) in got.pivots.iter().enumerate() {
                let p = p as usize - 1;
                assert!((i..m).contains(&p), "{what}: pivot {p} of {i}");
                for j in 0..n {
                    permuted.data.swap(i + j * m, p + j * m);
                }
            }
            let (k, packed) = (m.min(n), Mat::new(m, n, &got.a));
            let lower = Mat::make(m, k, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => C::default(),
                std::cmp::Ordering::Equal => 1.0.into(),
                std::cmp::Ordering::Greater => packed.at(i, j),
            });
            let residual = permuted.plus(&lower.times(&packed.upper(k)), -1.0);
            assert_small(scaled_ratio::<T>(&residual, m.max(n), norm), &what);
            let zero = (0..k).find(|&i| packed.at(i, i) == C::default());
            assert_eq!(got.info, [zero.map_or(0, |i| i as i32 + 1)], "{what}");
        }
    }
}

fn qr_of_every_kind<T: Number>() {
    for (m, n) in [
        (1, 1),
        (2, 2),
        (4, 4),
        (16, 16),
        (13, 9),
        (9, 13),
        (33, 33),
        (65, 65),
        (70, 66),
        (66, 131),
        (130, 100),
        (5, 2048),
        (2048, 5),
        (2049, 5),
        (2049, 33),
    ] {
        for (name, a) in kinds::<T>(m, n) {
            let what = format!("qr, {m} x {n}, {name}");
            let (k, x) = (m.min(n), a.to::<T>());
            let packed = results(Geqrf, (m, n), &x, &[]);
            let q = results(Orgqr, (m, k), &packed.a[..m * k], &packed.tau);
            let (a, q) = (Mat::new(m, n, &x), Mat::new(m, k, &q.a));
            let r = Mat::new(m, n, &packed.a).upper(k);
            let residual = a.plus(&q.times(&r), -1.0);
            assert_small(scaled_ratio::<T>(&residual, m.max(n), a.norm1()), &what);
            assert_small(crate::common::orthogonality::<T>(&q), &what);
        }
    }
}

for_every_dtype!(lu_of_every_kind qr_of_every_kind);
