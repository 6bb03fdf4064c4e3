use crate::*;
use lanes::cholesky::{Potrf, NOT_FINITE};
use matrices::Triangle;

fn run<T: Real>(n: usize, triangle: Triangle) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (mut a, mut info) = (x.to_vec(), vec![-1; count]);
        let (matrices, infos) = (&mut a, &mut info);
        let kernel = Potrf {
            n,
            triangle,
            a: matrices,
            info: infos,
            together: THREADS,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![a],
            ints: vec![info],
        }
    }
}

/// A positive definite matrix in one triangle, with something else in the other.
fn matrix<T: Real>(n: usize, triangle: Triangle, random: &mut Random) -> Vec<T> {
    let b = Matrix::of(n, &random.numbers::<f64>(n * n));
    let a = b.times(&b.transposed());
    let element = |e: usize| {
        let (i, j) = (e % n, e / n);
        match is_in(triangle, i, j) {
            true if i == j => T::of(a.at(i, j) + 1.0),
            true => T::of(a.at(i, j)),
            false => T::of(e as f64),
        }
    };
    (0..n * n).map(element).collect()
}

fn is_in(triangle: Triangle, i: usize, j: usize) -> bool {
    match triangle {
        Triangle::Lower => i >= j,
        Triangle::Upper => i <= j,
    }
}

/// The factor by the definition, as a lower triangle; the order of the first minor that is not positive
/// definite.
fn naive(a: &Matrix) -> (Matrix, Option<usize>) {
    let n = a.rows;
    let mut l = Matrix::from_fn(n, n, |_, _| 0.0);
    for j in 0..n {
        let known: f64 = (0..j).map(|k| l.at(j, k).powi(2)).sum();
        let square = a.at(j, j) - known;
        if square <= 0.0 {
            return (l, Some(j + 1));
        }
        l.set(j, j, square.sqrt());
        for i in j + 1..n {
            let known: f64 = (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum();
            l.set(i, j, (a.at(i, j) - known) / l.at(j, j));
        }
    }
    (l, None)
}

/// The triangle that is read, as a lower one.
fn lower<T: Real>(n: usize, triangle: Triangle, x: &[T]) -> Matrix {
    let a = Matrix::of(n, x);
    Matrix::from_fn(n, n, |i, j| match triangle {
        _ if i < j => 0.0,
        Triangle::Lower => a.at(i, j),
        Triangle::Upper => a.at(j, i),
    })
}

fn factors<T: Real>() {
    let mut random = Random(1);
    for (n, triangle) in SIZES
        .into_iter()
        .flat_map(|n| BOTH.map(|triangle| (n, triangle)))
    {
        for count in COUNTS {
            let x: Vec<T> = (0..count)
                .flat_map(|_| matrix(n, triangle, &mut random))
                .collect();
            let results = batch(&x, count, &run(n, triangle));
            for at in 0..count {
                let (given, result) = (part(&x, at, count), results.of(at, count));
                let a = lower(n, triangle, given);
                let l = lower(n, triangle, &result.numbers[0]);
                l.expect::<T>(&naive(&a).0, n * n, a.size().sqrt());
                for (e, (is, was)) in result.numbers[0].iter().zip(given).enumerate() {
                    let read = is_in(triangle, e % n, e / n);
                    assert!(read || is == was, "the other triangle changed");
                }
                assert_eq!(result.ints[0], [0]);
            }
        }
    }
}

fn large_factors<T: Real>() {
    let mut random = Random(5);
    // More than is packed at a time, too.
    for n in LARGE.into_iter().chain([560]) {
        for triangle in BOTH {
            let x: Vec<T> = (0..2)
                .flat_map(|_| matrix(n, triangle, &mut random))
                .collect();
            let results = batch(&x, 2, &run(n, triangle));
            for at in 0..2 {
                let (given, result) = (part(&x, at, 2), results.of(at, 2));
                let a = lower(n, triangle, given);
                let l = lower(n, triangle, &result.numbers[0]);
                let whole = Matrix::from_fn(n, n, |i, j| a.at(i.max(j), i.min(j)));
                l.times(&l.transposed()).expect::<T>(&whole, n, a.size());
                for (e, (is, was)) in result.numbers[0].iter().zip(given).enumerate() {
                    let read = is_in(triangle, e % n, e / n);
                    assert!(read || is == was, "the other triangle changed");
                }
                assert_eq!(result.ints[0], [0]);
            }
        }
    }
}

const BOTH: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];

fn not_positive<T: Real>() {
    for triangle in BOTH {
        for n in [1, 4, 5, 17, 64, 100, 300] {
            for bad in [0, n / 2, n - 1] {
                let mut a: Vec<T> = matrix(n, triangle, &mut Random(2));
                a[bad * n + bad] = T::of(-1.0);
                let naive = naive(&lower(n, triangle, &a)).1;
                assert_eq!(naive, Some(bad + 1));
                let results = batch(&a.repeat(7), 7, &run(n, triangle));
                let result = results.of(5, 7);
                assert_eq!(result.ints[0], [bad as i32 + 1]);
                let l = lower(n, triangle, &result.numbers[0]);
                for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                    assert_eq!(l.at(i, j).is_nan(), j >= bad, "({i}, {j})");
                }
            }
        }
    }
}

fn not_finite<T: Real>() {
    for triangle in BOTH {
        for n in [1, 4, 9, 33, 70, 290] {
            let mut random = Random(3);
            let x: Vec<T> = (0..7)
                .flat_map(|_| matrix(n, triangle, &mut random))
                .collect();
            let corner = match triangle {
                Triangle::Lower => n - 1,
                Triangle::Upper => n * (n - 1),
            };
            for place in [0, corner, n * n - 1] {
                for result in spoilt(&x, place, &run(n, triangle)) {
                    assert!(all_nan(&result.numbers[0]));
                    assert_eq!(result.ints[0], [NOT_FINITE]);
                }
            }
        }
        // What is not read may be anything.
        let mut a: Vec<T> = matrix(3, triangle, &mut Random(4));
        let unread = if triangle == Triangle::Lower { 6 } else { 2 };
        a[unread] = T::of(f64::NAN);
        let results = batch(&a.repeat(7), 7, &run(3, triangle));
        assert_eq!(results.of(0, 7).ints[0], [0]);
    }
}

in_both! { factors large_factors not_positive not_finite }
