//! Matrices with their rows in lanes.

use crate::eigh::{run_by, symmetric};
use crate::large::{eps, expect_same, expect_values, less, norm1, RATIO};
use crate::*;
use lanes::eigh::{BLOCKS, MOST, NOT_FINITE};
use lanes::ALONE;
use matrices::Triangle;

/// Eigenvalues and vectors of `x`, once what LAPACK's tests look at is found small, and eigenvalues alone the same.
fn decompose<T: Real>(what: &str, triangle: Triangle, n: usize, x: &[T]) -> Results<T> {
    let best = Unit::all()[0];
    let results = run_by(n, true, triangle, ALONE)(best, x, 1);
    assert_eq!(results.ints[0], [0], "{what}, {n}");
    let (a, w) = (symmetric(n, triangle, x), &results.numbers[0]);
    assert!(w.windows(2).all(|pair| pair[0] <= pair[1]), "{what}, {n}");
    let v = Matrix::of(n, &results.numbers[1]);
    let scaled = Matrix::from_fn(n, n, |i, j| v.at(i, j) * w[j].f64());
    let norm = norm1(&a).max(f64::MIN_POSITIVE);
    let residual = less(&a.times(&v), &scaled) / norm / (n as f64 * eps::<T>());
    assert!(residual <= RATIO, "{what}, {n}: residual {residual}");
    let orthogonality = less(&v.transposed().times(&v), &Matrix::identity(n));
    let orthogonality = orthogonality / (n as f64 * eps::<T>());
    assert!(orthogonality <= RATIO, "{what}, {n}: {orthogonality}");
    let alone = run_by(n, false, triangle, ALONE)(best, x, 1);
    assert_eq!(alone.ints[0], [0], "{what}, {n}");
    assert_eq!(alone.numbers[1], x, "{what}, {n}: the matrix changed");
    expect_values::<T>(what, w, &Matrix::of(n, &alone.numbers[0]).data, norm);
    results
}

/// Sizes around the edges of leaves, lines, blocks and panels: the same bits on every vector unit and with any threads.
fn sizes<T: Real>() {
    let units = Unit::all();
    for (at, n) in [97, 112, 128, 129, 200, 256, 257].into_iter().enumerate() {
        let triangle = [Triangle::Lower, Triangle::Upper][at % 2];
        let x: Vec<T> = Random(at as u64 + 1).numbers(n * n);
        let alone = decompose("random", triangle, n, &x);
        let together = run_by(n, true, triangle, THREADS)(units[0], &x, 1);
        expect_same(&together, &alone, &format!("threads, {n}"));
        // Without vectors a fused operation is a call, a hundred times as slow.
        for &unit in units[1..]
            .iter()
            .filter(|&&unit| n < 130 || unit.has_vectors())
        {
            let other = run_by(n, true, triangle, ALONE)(unit, &x, 1);
            expect_same(&other, &alone, &format!("{unit:?}, {n}"));
            let values =
                [unit, units[0]].map(|unit| run_by(n, false, triangle, ALONE)(unit, &x, 1));
            expect_same(&values[0], &values[1], &format!("{unit:?}, {n}, values"));
        }
    }
}

/// Matrices that do not fit in the cache: by panels.
fn panels<T: Real>() {
    let n = if T::ROUNDING.f64() < 1e-10 { 401 } else { 562 };
    let x: Vec<T> = Random(5).numbers(n * n);
    let alone = decompose("panels", Triangle::Lower, n, &x);
    let together = run_by(n, true, Triangle::Lower, THREADS)(Unit::all()[0], &x, 1);
    expect_same(&together, &alone, "panels");
    let units = Unit::all();
    let vectors = units.into_iter().filter(|&unit| unit.has_vectors());
    let values = vectors.map(|unit| run_by(n, false, Triangle::Lower, ALONE)(unit, &x, 1));
    let values: Vec<_> = values.collect();
    for other in &values {
        expect_same(other, &values[0], "values by panels");
    }
}

/// The largest one, of which several threads read parts for each product: the trace and the sum of squares are those of
/// the matrix.
#[test]
fn the_largest_matrix_by_several_threads() {
    let n = MOST.real as usize;
    let x: Vec<f32> = Random(6).numbers(n * n);
    let results = [ALONE, THREADS]
        .map(|together| run_by(n, false, Triangle::Lower, together)(Unit::all()[0], &x, 1));
    expect_same(&results[0], &results[1], "panels");
    let w = Matrix::of(n, &results[0].numbers[0]).data;
    let a = symmetric(n, Triangle::Lower, &x);
    let trace: f64 = (0..n).map(|i| a.at(i, i)).sum();
    let squares: f64 = a.data.iter().map(|x| x * x).sum();
    let (size, eps) = (norm1(&a), eps::<f32>());
    let sum: f64 = w.iter().sum();
    assert!(
        (sum - trace).abs() < size * eps * n as f64,
        "{sum}, {trace}"
    );
    let sum: f64 = w.iter().map(|x| x * x).sum();
    assert!((sum / squares - 1.0).abs() < 10.0 * eps, "{sum}, {squares}");
}

/// `diag(d)` in another basis, by three reflections.
fn with_eigenvalues<T: Real>(d: &[f64]) -> Vec<T> {
    let n = d.len();
    let mut a = Matrix::from_fn(n, n, |i, j| if i == j { d[i] } else { 0.0 });
    let mut random = Random(7);
    for _ in 0..3 {
        let v: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let square: f64 = v.iter().map(|x| x * x).sum();
        let p: Vec<f64> = (0..n)
            .map(|i| 2.0 / square * (0..n).map(|j| a.at(i, j) * v[j]).sum::<f64>())
            .collect();
        let vp: f64 = v.iter().zip(&p).map(|(v, p)| v * p).sum::<f64>() / square;
        let w: Vec<f64> = v.iter().zip(&p).map(|(v, p)| p - vp * v).collect();
        a = Matrix::from_fn(n, n, |i, j| a.at(i, j) - v[i] * w[j] - w[i] * v[j]);
    }
    a.data.iter().map(|&x| T::of(x)).collect()
}

/// A tridiagonal matrix, from its diagonal and what is beside that.
fn banded<T: Real>(n: usize, d: impl Fn(usize) -> f64, e: impl Fn(usize) -> f64) -> Vec<T> {
    let element = |i: usize, j: usize| match i.abs_diff(j) {
        0 => d(i),
        1 => e(i.min(j)),
        _ => 0.0,
    };
    let a = Matrix::from_fn(n, n, element);
    a.data.iter().map(|&x| T::of(x)).collect()
}

fn known_spectra<T: Real>() {
    for n in [49, 97, 200] {
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
            ("of both signs", of(&|t| if t < 0.5 { -1.0 } else { 1.0 })),
            ("of half the rank", of(&|t| if t < 0.5 { 0.0 } else { t })),
            ("equidistant", of(&|t| t - 0.5)),
        ];
        for (what, mut d) in spectra {
            let results = decompose(what, Triangle::Lower, n, &with_eigenvalues::<T>(&d));
            d.sort_by(f64::total_cmp);
            expect_values(what, &results.numbers[0], &d, (n as f64).sqrt());
        }
    }
}

fn tridiagonal_matrices<T: Real>() {
    for n in [98, 256] {
        let middle = (n - 1) as f64 / 2.0;
        let wilkinson = banded::<T>(n, |i| (i as f64 - middle).abs(), |_| 1.0);
        decompose("Wilkinson's", Triangle::Upper, n, &wilkinson);
        for glue in [1e-4, 1e-8, 1e-14] {
            let beside = |i: usize| if (i + 1) % 21 == 0 { glue } else { 1.0 };
            let glued = banded::<T>(n, |i| ((i % 21) as f64 - 10.0).abs(), beside);
            decompose("glued", Triangle::Lower, n, &glued);
        }
        let differences = banded::<T>(n, |_| 2.0, |_| -1.0);
        let results = decompose("of differences", Triangle::Lower, n, &differences);
        let step = std::f64::consts::PI / (n + 1) as f64;
        let known: Vec<f64> = (1..=n)
            .map(|k| 2.0 - 2.0 * (k as f64 * step).cos())
            .collect();
        expect_values("of differences", &results.numbers[0], &known, 4.0);
        let tiny = |i: usize| if i % 3 == 0 { 1e-30 } else { 1.0 };
        decompose(
            "with tiny numbers",
            Triangle::Lower,
            n,
            &banded::<T>(n, |_| 0.0, tiny),
        );
        let steep = |i: usize| 10_f64.powf(-30.0 * i as f64 / n as f64);
        decompose(
            "steep",
            Triangle::Lower,
            n,
            &banded::<T>(n, steep, |i| steep(i) / 2.0),
        );
    }
}

/// What there is nothing to do for, and what is far from 1.
fn special_matrices<T: Real>() {
    let n = 130;
    let diagonal = |f: &dyn Fn(usize) -> f64| banded::<T>(n, f, |_| 0.0);
    for (what, value) in [
        ("zero", 0.0),
        ("identity", 1.0),
        ("large", 1e30),
        ("small", 1e-30),
    ] {
        let results = decompose(what, Triangle::Lower, n, &diagonal(&|_| value));
        assert_eq!(results.numbers[0], vec![T::of(value); n], "{what}");
    }
    let results = decompose(
        "diagonal",
        Triangle::Lower,
        n,
        &diagonal(&|i| (i * 7 % n) as f64),
    );
    let ascending: Vec<T> = (0..n).map(|i| T::of(i as f64)).collect();
    assert_eq!(results.numbers[0], ascending);
    decompose("ones", Triangle::Upper, n, &vec![T::ONE; n * n]);
    let x: Vec<T> = Random(8).numbers(n * n);
    let known = decompose("random", Triangle::Lower, n, &x);
    // By a power of 2, so that nothing is rounded; the smallest become subnormal.
    let double = T::ROUNDING.f64() < 1e-10;
    for exponent in if double { [1000, -1010] } else { [120, -120] } {
        let factor = 2_f64.powi(exponent);
        let scaled: Vec<T> = x.iter().map(|x| T::of(x.f64() * factor)).collect();
        let results = run_by(n, true, Triangle::Lower, ALONE)(Unit::all()[0], &scaled, 1);
        let size = factor * n as f64 * eps::<T>() + T::SMALLEST.f64() * eps::<T>();
        for (w, known) in results.numbers[0].iter().zip(&known.numbers[0]) {
            assert!(
                (w.f64() - known.f64() * factor).abs() <= size,
                "{exponent}: {w:?}"
            );
        }
        Matrix::of(n, &results.numbers[1]).expect_orthonormal::<T>();
    }
}

fn not_finite<T: Real>() {
    let n = BLOCKS.long + 1;
    for (place, bad) in [
        (0, f64::NAN),
        (n - 1, f64::INFINITY),
        (n * n - 1, f64::NEG_INFINITY),
    ] {
        for vectors in [true, false] {
            let mut x: Vec<T> = Random(3).numbers(n * n);
            x[place] = T::of(bad);
            let results = run_by(n, vectors, Triangle::Lower, ALONE)(Unit::all()[0], &x, 1);
            assert!(all_nan(&results.numbers[0]) && all_nan(&results.numbers[1]));
            assert_eq!(results.ints[0], [NOT_FINITE]);
            // What is not read does not matter.
            let results = run_by(n, vectors, Triangle::Upper, ALONE)(Unit::all()[0], &x, 1);
            let read = place == 0 || place == n * n - 1;
            assert_eq!(results.ints[0] == [NOT_FINITE], read);
        }
    }
}

in_both! {
    sizes panels known_spectra tridiagonal_matrices special_matrices not_finite
}
