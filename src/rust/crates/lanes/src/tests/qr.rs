use super::*;
use crate::qr::{Geqrf, Orgqr};

fn run<T: Real>(m: usize, n: usize) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (mut a, mut tau) = (x.to_vec(), vec![T::ZERO; m.min(n) * count]);
        let (matrices, factors) = (&mut a, &mut tau);
        let kernel = Geqrf {
            m,
            n,
            a: matrices,
            tau: factors,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![a, tau],
            ints: Vec::new(),
        }
    }
}

/// Operands are packed: `m` × `n`, then `k` factors.
fn columns<T: Real>(m: usize, n: usize, k: usize) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, packed, count| {
        let matrices = || packed.chunks_exact(m * n + k);
        let mut a: Vec<T> = matrices().flat_map(|one| &one[..m * n]).copied().collect();
        let tau: Vec<T> = matrices().flat_map(|one| &one[m * n..]).copied().collect();
        let (matrices, tau) = (&mut a, &tau);
        let kernel = Orgqr {
            m,
            n,
            k,
            a: matrices,
            tau,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![a],
            ints: Vec::new(),
        }
    }
}

/// The first `n` columns of the product of `I - tau v vᵀ`.
fn naive(reflections: &Matrix, tau: &[f64], n: usize) -> Matrix {
    let m = reflections.rows;
    let mut q = Matrix::from_fn(m, n, |i, j| f64::from(u8::from(i == j)));
    for (k, tau) in tau.iter().enumerate().rev() {
        let v = Matrix::from_fn(m, 1, |i, _| match i.cmp(&k) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => reflections.at(i, k),
        });
        let along = v.transposed().times(&q);
        q = Matrix::from_fn(m, n, |i, j| q.at(i, j) - tau * v.at(i, 0) * along.at(0, j));
    }
    q
}

fn factors<T: Real>() {
    let mut random = Random(1);
    for n in SIZES {
        for m in [n, n / 2 + 1, 64 - n / 2] {
            for count in COUNTS {
                let x: Vec<T> = random.numbers(m * n * count);
                let results = batch(&x, count, &run(m, n));
                for at in 0..count {
                    let [a, tau] = &results.of(at, count).numbers[..] else {
                        unreachable!()
                    };
                    let tau: Vec<f64> = tau.iter().map(|tau| tau.f64()).collect();
                    let (given, a) = (Matrix::of(m, part(&x, at, count)), Matrix::of(m, a));
                    let q = naive(&a, &tau, m);
                    q.expect_orthonormal::<T>();
                    let r = Matrix::from_fn(m, n, |i, j| if i > j { 0.0 } else { a.at(i, j) });
                    q.times(&r)
                        .expect::<T>(&given, m, given.size() * (m as f64).sqrt());
                }
            }
        }
    }
}

fn columns_of_q<T: Real>() {
    let mut random = Random(2);
    for n in SIZES {
        for (m, k) in [(n, n), (64, n), (64, n.div_ceil(2))] {
            for count in COUNTS {
                let x: Vec<T> = random.numbers(m * n * count);
                let factored = run(m, n)(Unit::all()[0], &x, count);
                let pack = |at| {
                    let [a, tau] = &factored.of(at, count).numbers[..] else {
                        unreachable!()
                    };
                    [a, &tau[..k]].concat()
                };
                let packed: Vec<T> = (0..count).flat_map(pack).collect();
                let results = batch(&packed, count, &columns(m, n, k));
                for at in 0..count {
                    let (a, tau) = part(&packed, at, count).split_at(m * n);
                    let tau: Vec<f64> = tau.iter().map(|tau| tau.f64()).collect();
                    let q = Matrix::of(m, &results.of(at, count).numbers[0]);
                    q.expect::<T>(&naive(&Matrix::of(m, a), &tau, n), m, 1.0);
                    q.expect_orthonormal::<T>();
                }
            }
        }
    }
}

fn not_finite<T: Real>() {
    for n in [1, 4, 9, 33] {
        let x: Vec<T> = Random(3).numbers(n * n * 7);
        for place in [0, n * n / 2, n * n - 1] {
            for result in spoilt(&x, place, &run(n, n)) {
                assert!(all_nan(&result.numbers[0]) && all_nan(&result.numbers[1]));
            }
        }
        // In a reflection, and in its factor.
        for place in [n - 1, n * n] {
            let packed: Vec<T> = Random(4).numbers((n * n + n) * 7);
            for result in spoilt(&packed, place, &columns(n, n, n)) {
                assert!(all_nan(&result.numbers[0]));
            }
        }
    }
}

in_both! { factors columns_of_q not_finite }
