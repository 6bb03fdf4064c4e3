use crate::*;
use lanes::svd::{Gesdd, BLOCKS, NOT_FINITE};
use lanes::ALONE;
use matrices::Vectors;

fn run<T: Real>(m: usize, n: usize, vectors: Vectors) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    run_by(m, n, vectors, ALONE)
}

pub(crate) fn run_by<T: Real>(
    m: usize,
    n: usize,
    vectors: Vectors,
    together: Together<'static>,
) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (columns, rows) = vectors.counts(m as i32, n as i32);
        let mut s = vec![T::ZERO; m.min(n) * count];
        let mut u = vec![T::ZERO; m * columns as usize * count];
        let mut vt = vec![T::ZERO; rows as usize * n * count];
        let mut info = vec![-1; count];
        let (values, left, right, infos) = (&mut s, &mut u, &mut vt, &mut info);
        let kernel = Gesdd {
            m,
            n,
            vectors,
            a: x,
            s: values,
            u: left,
            vt: right,
            info: infos,
            together,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![s, u, vt],
            ints: vec![info],
        }
    }
}

/// Singular values by rotations that make columns orthogonal (Hestenes), descending.
fn naive(a: Matrix) -> Vec<f64> {
    let mut a = if a.rows < a.cols() { a.transposed() } else { a };
    let n = a.cols();
    for _ in 0..15 {
        for (p, q) in (0..n).flat_map(|q| (0..q).map(move |p| (p, q))) {
            let dot = |p, q| (0..a.rows).map(|i| a.at(i, p) * a.at(i, q)).sum::<f64>();
            let (along, pp, qq) = (dot(p, q), dot(p, p), dot(q, q));
            if along == 0.0 {
                continue;
            }
            let (sine, cosine) = (0.5 * (2.0 * along).atan2(qq - pp)).sin_cos();
            for i in 0..a.rows {
                let (x, y) = (a.at(i, p), a.at(i, q));
                a.set(i, p, cosine * x - sine * y);
                a.set(i, q, sine * x + cosine * y);
            }
        }
    }
    let norm = |j| (0..a.rows).map(|i| a.at(i, j).powi(2)).sum::<f64>().sqrt();
    let mut s: Vec<f64> = (0..n).map(norm).collect();
    s.sort_by(|a, b| b.total_cmp(a));
    s
}

fn decomposes<T: Real>() {
    let mut random = Random(1);
    for n in SIZES.into_iter().chain([BLOCKS.short]) {
        for m in [n, n / 2 + 1, 64 - n / 2] {
            for (count, vectors) in COUNTS.into_iter().flat_map(|count| ALL.map(|v| (count, v))) {
                let x: Vec<T> = random.numbers(m * n * count);
                let results = batch(&x, count, &run(m, n, vectors));
                for at in 0..count {
                    let result = results.of(at, count);
                    assert_eq!(result.ints[0], [0]);
                    let a = Matrix::of(m, part(&x, at, count));
                    check::<T>(&a, vectors, &result);
                    // In one matrix of a batch: the naive way takes its time.
                    if at == count / 2 && m.max(n) < 33 {
                        let s = Matrix::of(m.min(n), &result.numbers[0]);
                        let naive = Matrix::of(m.min(n), &naive(a));
                        s.expect::<T>(&naive, m.max(n), m.max(n) as f64);
                    }
                }
            }
        }
    }
}

const ALL: [Vectors; 3] = [Vectors::Full, Vectors::Thin, Vectors::No];

fn check<T: Real>(a: &Matrix, vectors: Vectors, result: &Results<T>) {
    let (m, n) = (a.rows, a.cols());
    let [s, u, vt] = &result.numbers[..] else {
        unreachable!()
    };
    let s = Matrix::of(m.min(n), s);
    assert!(s.data.windows(2).all(|pair| pair[0] >= pair[1]), "{s:?}");
    assert!(s.data.iter().all(|&s| s >= 0.0), "{s:?}");
    if vectors == Vectors::No {
        return;
    }
    let rows = vectors.counts(m as i32, n as i32).1 as usize;
    let (u, v) = (Matrix::of(m, u), Matrix::of(rows, vt).transposed());
    u.expect_orthonormal::<T>();
    v.expect_orthonormal::<T>();
    let scaled = Matrix::from_fn(m, m.min(n), |i, j| u.at(i, j) * s.at(j, 0));
    let thin = Matrix::from_fn(n, m.min(n), |i, j| v.at(i, j));
    let product = scaled.times(&thin.transposed());
    product.expect::<T>(a, m.max(n), (m.max(n) as f64).sqrt());
}

/// Of rank 0 and 1.
fn deficient<T: Real>() {
    for (m, n) in [(1, 1), (5, 3), (3, 5), (17, 17), (BLOCKS.long, 9)] {
        for value in [0.0, 1.0] {
            let a = vec![T::of(value); m * n];
            let results = batch(&a.repeat(7), 7, &run(m, n, Vectors::Full));
            let result = results.of(3, 7);
            check::<T>(&Matrix::of(m, &a), Vectors::Full, &result);
            let s = Matrix::of(m.min(n), &result.numbers[0]);
            let first = value * ((m * n) as f64).sqrt();
            let known = Matrix::from_fn(m.min(n), 1, |i, _| if i == 0 { first } else { 0.0 });
            s.expect::<T>(&known, m.max(n), first);
        }
    }
}

fn not_finite<T: Real>() {
    for n in [1, 4, 9, 33, BLOCKS.short] {
        for vectors in ALL {
            let x: Vec<T> = Random(3).numbers(n * n * 7);
            for place in [0, n * n / 2, n * n - 1] {
                for result in spoilt(&x, place, &run(n, n, vectors)) {
                    assert!(result.numbers.iter().all(|numbers| all_nan(numbers)));
                    assert_eq!(result.ints[0], [NOT_FINITE]);
                }
            }
        }
    }
}

in_both! { decomposes deficient not_finite }
