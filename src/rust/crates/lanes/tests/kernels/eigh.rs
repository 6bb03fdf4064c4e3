use crate::*;
use lanes::eigh::{Syevd, BLOCKS, NOT_FINITE};
use lanes::ALONE;
use matrices::Triangle;

fn run<T: Real>(
    n: usize,
    vectors: bool,
    triangle: Triangle,
) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    run_by(n, vectors, triangle, ALONE)
}

pub(crate) fn run_by<T: Real>(
    n: usize,
    vectors: bool,
    triangle: Triangle,
    together: Together<'static>,
) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (mut a, mut w) = (x.to_vec(), vec![T::ZERO; n * count]);
        let mut info = vec![-1; count];
        let (matrices, values, infos) = (&mut a, &mut w, &mut info);
        let kernel = Syevd {
            n,
            vectors,
            triangle,
            a: matrices,
            w: values,
            info: infos,
            together,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![w, a],
            ints: vec![info],
        }
    }
}

/// The matrix that a triangle stands for.
pub(crate) fn symmetric<T: Real>(n: usize, triangle: Triangle, x: &[T]) -> Matrix {
    let a = Matrix::of(n, x);
    Matrix::from_fn(n, n, |i, j| match triangle {
        Triangle::Lower => a.at(i.max(j), i.min(j)),
        Triangle::Upper => a.at(i.min(j), i.max(j)),
    })
}

/// Eigenvalues by Jacobi's rotations, ascending.
fn naive(mut a: Matrix) -> Vec<f64> {
    let n = a.rows;
    for _ in 0..12 {
        for (p, q) in (0..n).flat_map(|q| (0..q).map(move |p| (p, q))) {
            if a.at(p, q) == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * a.at(p, q)).atan2(a.at(q, q) - a.at(p, p));
            let (s, c) = angle.sin_cos();
            for k in 0..n {
                let (x, y) = (a.at(k, p), a.at(k, q));
                a.set(k, p, c * x - s * y);
                a.set(k, q, s * x + c * y);
            }
            for k in 0..n {
                let (x, y) = (a.at(p, k), a.at(q, k));
                a.set(p, k, c * x - s * y);
                a.set(q, k, s * x + c * y);
            }
        }
    }
    let mut w: Vec<f64> = (0..n).map(|i| a.at(i, i)).collect();
    w.sort_by(f64::total_cmp);
    w
}

fn decomposes<T: Real>() {
    let mut random = Random(1);
    for n in SIZES.into_iter().chain([BLOCKS.long]) {
        for count in COUNTS {
            let triangle = [Triangle::Lower, Triangle::Upper][(n + count) % 2];
            let x: Vec<T> = random.numbers(n * n * count);
            let results = batch(&x, count, &run(n, true, triangle));
            let values = batch(&x, count, &run(n, false, triangle));
            assert_eq!(
                values.numbers[1], x,
                "matrices changed where no vectors are asked for"
            );
            for at in 0..count {
                let a = symmetric(n, triangle, part(&x, at, count));
                let (result, values) = (results.of(at, count), values.of(at, count));
                assert_eq!(
                    (&result.ints[0][..], &values.ints[0][..]),
                    (&[0][..], &[0][..])
                );
                let w = Matrix::of(n, &result.numbers[0]);
                assert!(w.data.windows(2).all(|pair| pair[0] <= pair[1]), "{w:?}");
                let v = Matrix::of(n, &result.numbers[1]);
                v.expect_orthonormal::<T>();
                let scaled = Matrix::from_fn(n, n, |i, j| v.at(i, j) * w.at(j, 0));
                a.times(&v).expect::<T>(&scaled, n, n as f64);
                Matrix::of(n, &values.numbers[0]).expect::<T>(&w, n, n as f64);
                // All of them in one matrix of a batch: the naive way takes its time.
                if at == count / 2 && n < 33 {
                    let naive = naive(a);
                    w.expect::<T>(&Matrix::of(n, &naive), n, n as f64);
                }
            }
        }
    }
}

/// Matrices without anything to do, and of a few large numbers among small ones.
fn special<T: Real>() {
    let (large, small) = (T::of(1e30), T::of(1e-30));
    for n in [1, 2, 5, 17, BLOCKS.long] {
        for diagonal in [T::ZERO, T::ONE, large, small] {
            let mut a = vec![T::ZERO; n * n];
            (0..n).for_each(|i| a[i * n + i] = diagonal);
            let results = batch(&a.repeat(7), 7, &run(n, true, Triangle::Lower));
            let result = results.of(4, 7);
            assert_eq!(
                (result.numbers[0].clone(), result.ints[0][0]),
                (vec![diagonal; n], 0)
            );
            Matrix::of(n, &result.numbers[1]).expect_orthonormal::<T>();
        }
    }
}

fn not_finite<T: Real>() {
    for n in [1, 4, 9, 33, BLOCKS.long] {
        let x: Vec<T> = Random(3).numbers(n * n * 7);
        for vectors in [true, false] {
            for place in [0, n - 1, n * n - 1] {
                for result in spoilt(&x, place, &run(n, vectors, Triangle::Lower)) {
                    assert!(all_nan(&result.numbers[0]) && all_nan(&result.numbers[1]));
                    assert_eq!(result.ints[0], [NOT_FINITE]);
                }
            }
        }
    }
}

in_both! { decomposes special not_finite }
