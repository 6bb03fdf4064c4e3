//! Matrices with their rows in lanes.

use crate::large::{eps, expect_same, expect_values, less, norm1, RATIO};
use crate::svd::run_by;
use crate::*;
use lanes::svd::{BLOCKS, MOST, NOT_FINITE};
use lanes::ALONE;
use matrices::Vectors;

/// Singular values and vectors of `x`, once what LAPACK's tests look at is found small, and the values alone the same.
fn decompose<T: Real>(what: &str, m: usize, n: usize, vectors: Vectors, x: &[T]) -> Results<T> {
    let best = Unit::all()[0];
    let results = run_by(m, n, vectors, ALONE)(best, x, 1);
    let what = format!("{what}, {m} x {n}");
    assert_eq!(results.ints[0], [0], "{what}");
    let (a, s) = (Matrix::of(m, x), &results.numbers[0]);
    assert!(s.windows(2).all(|pair| pair[0] >= pair[1]), "{what}");
    assert!(s[s.len() - 1].f64() >= 0.0, "{what}");
    let (rank, size) = (m.min(n), m.max(n) as f64);
    let rows = vectors.counts(m as i32, n as i32).1 as usize;
    let u = Matrix::of(m, &results.numbers[1]);
    let v = Matrix::of(rows, &results.numbers[2]).transposed();
    let scaled = Matrix::from_fn(m, rank, |i, j| u.at(i, j) * s[j].f64());
    let thin = Matrix::from_fn(n, rank, |i, j| v.at(i, j));
    let norm = norm1(&a).max(norm1(&a.transposed())).max(f64::MIN_POSITIVE);
    let residual = less(&scaled.times(&thin.transposed()), &a) / norm / (size * eps::<T>());
    assert!(residual <= RATIO, "{what}: residual {residual}");
    for q in [&u, &v] {
        let apart = less(&q.transposed().times(q), &Matrix::identity(q.cols()));
        let apart = apart / (size * eps::<T>());
        assert!(apart <= RATIO, "{what}: orthogonality {apart}");
    }
    let alone = run_by(m, n, Vectors::No, ALONE)(best, x, 1);
    assert_eq!(alone.ints[0], [0], "{what}");
    expect_values::<T>(&what, s, &Matrix::of(rank, &alone.numbers[0]).data, norm);
    results
}

/// Sizes around the edges of leaves, lines, blocks and panels, tall, wide, and much longer than wide: the same bits on every
/// vector unit and with any threads.
fn sizes<T: Real>() {
    let units = Unit::all();
    let shapes = [
        (97, 97),
        (129, 128),
        (112, 130),
        (200, 1),
        (1, 97),
        (257, 31),
        (33, 200),
        (200, 97),
        (256, 256),
    ];
    for (at, (m, n)) in shapes.into_iter().enumerate() {
        let vectors = [Vectors::Full, Vectors::Thin][at % 2];
        let x: Vec<T> = Random(at as u64 + 1).numbers(m * n);
        let alone = decompose("random", m, n, vectors, &x);
        let together = run_by(m, n, vectors, THREADS)(units[0], &x, 1);
        expect_same(&together, &alone, &format!("threads, {m} x {n}"));
        // Without vectors a fused operation is a call, a hundred times as slow.
        let others = units[1..].iter();
        for &unit in others.filter(|&&unit| m * n < 13_000 || unit.has_vectors()) {
            let other = run_by(m, n, vectors, ALONE)(unit, &x, 1);
            expect_same(&other, &alone, &format!("{unit:?}, {m} x {n}"));
            let values = [unit, units[0]].map(|unit| run_by(m, n, Vectors::No, ALONE)(unit, &x, 1));
            expect_same(
                &values[0],
                &values[1],
                &format!("{unit:?}, {m} x {n}, values"),
            );
        }
    }
}

/// Matrices that do not fit in the cache: by panels.
fn panels<T: Real>() {
    let n = if T::ROUNDING.f64() < 1e-10 { 353 } else { 500 };
    let x: Vec<T> = Random(5).numbers((n + 40) * n);
    let alone = decompose("panels", n + 40, n, Vectors::Thin, &x);
    let together = run_by(n + 40, n, Vectors::Thin, THREADS)(Unit::all()[0], &x, 1);
    expect_same(&together, &alone, "panels");
    let units = Unit::all();
    let vectors = units.into_iter().filter(|&unit| unit.has_vectors());
    let values = vectors.map(|unit| run_by(n + 40, n, Vectors::No, ALONE)(unit, &x, 1));
    let values: Vec<_> = values.collect();
    for other in &values {
        expect_same(other, &values[0], "values by panels");
    }
}

/// The largest one, of which several threads read parts for each pass: the sum of squares is that of the matrix.
#[test]
fn the_largest_matrix_by_several_threads() {
    let n = MOST.real as usize;
    let x: Vec<f32> = Random(6).numbers(n * n);
    let results =
        [ALONE, THREADS].map(|together| run_by(n, n, Vectors::No, together)(Unit::all()[0], &x, 1));
    expect_same(&results[0], &results[1], "panels");
    let s = Matrix::of(n, &results[0].numbers[0]).data;
    let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let sum: f64 = s.iter().map(|x| x * x).sum();
    let eps = eps::<f32>();
    assert!((sum / squares - 1.0).abs() < 10.0 * eps, "{sum}, {squares}");
}

/// `diag(s)` in other bases, by reflections on either side.
fn with_singular_values<T: Real>(m: usize, s: &[f64]) -> Vec<T> {
    let mut a = Matrix::from_fn(m, s.len(), |i, j| if i == j { s[i] } else { 0.0 });
    let mut random = Random(7);
    for _ in 0..4 {
        let v: Vec<f64> = (0..a.rows).map(|_| random.next()).collect();
        let square: f64 = v.iter().map(|x| x * x).sum();
        for column in a.data.chunks_exact_mut(v.len()) {
            let product: f64 = column.iter().zip(&v).map(|(x, v)| x * v).sum();
            let factor = 2.0 * product / square;
            for (x, v) in column.iter_mut().zip(&v) {
                *x -= factor * v;
            }
        }
        a = a.transposed();
    }
    a.data.iter().map(|&x| T::of(x)).collect()
}

/// A bidiagonal matrix, from its diagonal and what is right of that.
fn bidiagonal<T: Real>(n: usize, d: impl Fn(usize) -> f64, e: impl Fn(usize) -> f64) -> Vec<T> {
    let element = |i: usize, j: usize| match j.wrapping_sub(i) {
        0 => d(i),
        1 => e(i),
        _ => 0.0,
    };
    let a = Matrix::from_fn(n, n, element);
    a.data.iter().map(|&x| T::of(x)).collect()
}

fn known_spectra<T: Real>() {
    for (m, n) in [(49, 49), (70, 50), (97, 97), (200, 129), (400, 100)] {
        let (eps, of) = (eps::<T>(), |f: &dyn Fn(f64) -> f64| {
            (0..n).map(|i| f(i as f64 / n as f64)).collect::<Vec<f64>>()
        });
        let spectra = [
            ("graded", of(&|t| eps.powf(t))),
            ("steeply graded", of(&|t| eps.powf(2.5 * t))),
            (
                "clustered",
                of(&|t| if t < 0.5 { 1.0 } else { 1.0 + 10.0 * eps * t }),
            ),
            (
                "clustered at 0",
                of(&|t| if t < 0.9 { eps * t } else { 1.0 }),
            ),
            ("of orthogonal columns", of(&|_| 1.0)),
            ("of half the rank", of(&|t| if t < 0.5 { 0.0 } else { t })),
            ("of rank one", of(&|t| if t == 0.0 { 1.0 } else { 0.0 })),
            ("equidistant", of(&|t| 1.0 - t)),
        ];
        for (what, mut s) in spectra {
            let x = with_singular_values::<T>(m, &s);
            let results = decompose(what, m, n, Vectors::Thin, &x);
            s.sort_by(|a, b| b.total_cmp(a));
            expect_values(what, &results.numbers[0], &s, (n as f64).sqrt());
        }
    }
}

fn bidiagonal_matrices<T: Real>() {
    for n in [98, 256] {
        let differences = bidiagonal::<T>(n, |_| 1.0, |_| -1.0);
        let results = decompose("of differences", n, n, Vectors::Thin, &differences);
        // Golub and Van Loan, Matrix Computations: of `tridiagonal(-1, 2, -1)` with 1 as its last element.
        let step = std::f64::consts::PI / (2 * n + 1) as f64;
        let known: Vec<f64> = (1..=n)
            .map(|k| 2.0 * ((2 * (n - k) + 1) as f64 * step / 2.0).sin())
            .collect();
        expect_values("of differences", &results.numbers[0], &known, 2.0);
        let all = Vectors::Thin;
        let tiny = |i: usize| if i % 3 == 0 { 1e-30 } else { 1.0 };
        for (what, x) in [
            ("nilpotent", bidiagonal::<T>(n, |_| 0.0, |_| 1.0)),
            ("with tiny numbers", bidiagonal(n, tiny, |_| 1.0)),
            ("with tiny ones beside", bidiagonal(n, |_| 1.0, tiny)),
            (
                "of Kahan",
                bidiagonal(
                    n,
                    |i| 0.9_f64.powi(i as i32),
                    |i| -0.4 * 0.9_f64.powi(i as i32),
                ),
            ),
        ] {
            decompose(what, n, n, all, &x);
        }
        for glue in [1e-4, 1e-8, 1e-14] {
            let beside = |i: usize| if (i + 1) % 21 == 0 { glue } else { 1.0 };
            let glued = bidiagonal::<T>(n, |i| (i % 21) as f64 / 10.0, beside);
            decompose("glued", n, n, all, &glued);
        }
        for base in [-30.0, 30.0] {
            let steep = |i: usize| 10_f64.powf(base * i as f64 / n as f64);
            let x = bidiagonal::<T>(n, steep, |i| steep(i) / 2.0);
            decompose("steep", n, n, all, &x);
        }
    }
}

/// What there is nothing to do for, and what is far from 1.
fn special_matrices<T: Real>() {
    let n = 130;
    let diagonal = |f: &dyn Fn(usize) -> f64| bidiagonal::<T>(n, f, |_| 0.0);
    for (what, value) in [
        ("zero", 0.0),
        ("identity", 1.0),
        ("large", 1e30),
        ("small", 1e-30),
    ] {
        let x = diagonal(&|_| value);
        let results = decompose(what, n, n, Vectors::Thin, &x);
        assert_eq!(results.numbers[0], vec![T::of(value); n], "{what}");
    }
    let x = diagonal(&|i| -((i * 7 % n) as f64));
    let results = decompose("diagonal", n, n, Vectors::Thin, &x);
    let descending: Vec<f64> = (0..n).map(|i| (n - 1 - i) as f64).collect();
    expect_values("diagonal", &results.numbers[0], &descending, n as f64);
    for (m, n) in [(n, n), (97, 3), (3, 300)] {
        decompose("ones", m, n, Vectors::Full, &vec![T::ONE; m * n]);
        decompose("zero", m, n, Vectors::Full, &vec![T::ZERO; m * n]);
    }
    let x: Vec<T> = Random(8).numbers(n * n);
    let known = decompose("random", n, n, Vectors::Thin, &x);
    // By a power of 2, so that nothing is rounded; the smallest become subnormal.
    let double = T::ROUNDING.f64() < 1e-10;
    for exponent in if double { [1000, -1010] } else { [120, -120] } {
        let factor = 2_f64.powi(exponent);
        let scaled: Vec<T> = x.iter().map(|x| T::of(x.f64() * factor)).collect();
        let results = run_by(n, n, Vectors::Thin, ALONE)(Unit::all()[0], &scaled, 1);
        let size = factor * n as f64 * eps::<T>() + T::SMALLEST.f64() * eps::<T>();
        for (s, known) in results.numbers[0].iter().zip(&known.numbers[0]) {
            assert!(
                (s.f64() - known.f64() * factor).abs() <= size,
                "{exponent}: {s:?}"
            );
        }
        Matrix::of(n, &results.numbers[1]).expect_orthonormal::<T>();
        Matrix::of(n, &results.numbers[2]).expect_orthonormal::<T>();
    }
}

fn not_finite<T: Real>() {
    let (tall, narrow) = (BLOCKS.long + 1, BLOCKS.short + 1);
    for (m, n) in [(narrow, narrow), (tall, 4), (4, tall)] {
        for (place, bad) in [
            (0, f64::NAN),
            (m - 1, f64::INFINITY),
            (m * n - 1, f64::NEG_INFINITY),
        ] {
            for vectors in [Vectors::Full, Vectors::Thin, Vectors::No] {
                let mut x: Vec<T> = Random(3).numbers(m * n);
                x[place] = T::of(bad);
                let results = run_by(m, n, vectors, ALONE)(Unit::all()[0], &x, 1);
                assert!(results.numbers.iter().all(|numbers| all_nan(numbers)));
                assert_eq!(results.ints[0], [NOT_FINITE]);
            }
        }
    }
}

in_both! {
    sizes panels known_spectra bidiagonal_matrices special_matrices not_finite
}
