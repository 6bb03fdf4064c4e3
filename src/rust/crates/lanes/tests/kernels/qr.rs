use crate::*;
use lanes::qr::{Geqrf, Orgqr};
use lanes::testing::blocks_of_qr;
use lanes::Run;

fn run<T: Real>(m: usize, n: usize) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (mut a, mut tau) = (x.to_vec(), vec![T::ZERO; m.min(n) * count]);
        let (matrices, factors) = (&mut a, &mut tau);
        let kernel = Geqrf {
            run: Run::in_place((m, n), matrices, THREADS),
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
            run: Run::in_place((m, n), matrices, THREADS),
            k,
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

/// Factors a batch of random matrices, which must be what their factors make.
fn factors_of<T: Real>((m, n): (usize, usize), count: usize, random: &mut Random) {
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

fn factors<T: Real>() {
    let mut random = Random(1);
    for n in SIZES {
        for m in [n, n / 2 + 1, 64 - n / 2] {
            for count in COUNTS {
                factors_of::<T>((m, n), count, &mut random);
            }
        }
    }
}

/// Also such as have few rows or few columns.
fn large_factors<T: Real>() {
    let mut random = Random(5);
    for n in LARGE.into_iter().chain([49]) {
        for shape in [
            (n, n),
            (n / 2 + 1, n),
            (n + 35, n),
            (n, 1),
            (n, 3),
            (n, 16),
            (5, n),
        ] {
            factors_of::<T>(shape, 2, &mut random);
        }
    }
}

/// `n` columns of `k` reflections of `m` rows, of a batch of random matrices.
fn columns_of<T: Real>((m, n, k): (usize, usize, usize), count: usize, random: &mut Random) {
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

fn columns_of_q<T: Real>() {
    let mut random = Random(2);
    for n in SIZES {
        for (m, k) in [(n, n), (64, n), (64, n.div_ceil(2))] {
            for count in COUNTS {
                columns_of::<T>((m, n, k), count, &mut random);
            }
        }
    }
}

fn large_columns_of_q<T: Real>() {
    let mut random = Random(6);
    for n in LARGE.into_iter().chain([49]) {
        for (m, k) in [(n, n), (n + 35, n), (n, n - 7), (n + 1, 16), (n, 3)] {
            columns_of::<T>((m, n, k), 2, &mut random);
        }
        // Around the number up to which reflections act one by one.
        for k in [1, 2, 11, 12, 13] {
            columns_of::<T>((n, k, k), 2, &mut random);
            columns_of::<T>((n, k, k.div_ceil(2)), 2, &mut random);
        }
    }
}

/// Where no block of reflections acts there is no room for one, and else no more than acts at once.
#[test]
fn room_for_blocks() {
    let room = |m, n, k| blocks_of_qr(m, n, k, THREADS);
    assert_eq!(room(2048, 1, 1), [0, 0]);
    assert_eq!(room(1000, 12, 12), [0, 0]);
    assert_eq!(room(1000, 16, 16), [0, 1]);
    assert_eq!(room(1000, 32, 32), [1, 2]);
    assert_eq!(room(1000, 33, 16), [2, 1]);
    assert_eq!(room(1000, 500, 500), [2, 2]);
}

/// Ends of the range, zeros, and columns in which all of that stands side by side.
fn large_at_every_scale<T: Real>() {
    let smallest = T::SMALLEST.f64();
    let (m, n) = (83, 70);
    let ordinary = Random(7).numbers::<T>(m * n);
    for scales in [
        [0.0; 3],
        [smallest; 3],
        [smallest / 64.0; 3],
        [T::ROUNDING.f64() / smallest; 3],
        [1.0, 0.0, smallest / 64.0],
        [1.0, smallest, T::ROUNDING.f64() / smallest],
    ] {
        for by_rows in [false, true] {
            let scale = |e: usize| scales[if by_rows { e % m } else { e / m } % 3];
            let x: Vec<T> = (0..m * n)
                .map(|e| T::of(ordinary[e].f64() * scale(e)))
                .collect();
            let results = batch(&x, 1, &run(m, n));
            let [a, tau] = &results.numbers[..] else {
                unreachable!()
            };
            for tau in tau.iter().map(|tau| tau.f64()) {
                assert!(
                    tau == 0.0 || (1.0 - 1e-6..=2.0 + 1e-6).contains(&tau),
                    "{tau}"
                );
            }
            let packed = [a, &tau[..]].concat();
            let q = Matrix::of(m, &batch(&packed, 1, &columns(m, n, n)).numbers[0]);
            q.expect_orthonormal::<T>();
            let r = Matrix::of(m, a);
            let r = Matrix::from_fn(n, n, |i, j| if i > j { 0.0 } else { r.at(i, j) });
            let (residual, given) = (q.times(&r), Matrix::of(m, &x));
            // Below the smallest normal number nothing is rounded to so many digits.
            let size = given.size().max(smallest);
            residual.expect::<T>(&given, m, size * (m as f64).sqrt());
        }
    }
}

/// Where nothing is left to be reflected, the factor is 0 and `R` is what was there, whatever its sign.
fn large_triangles<T: Real>() {
    let n = 90;
    let mut x: Vec<T> = Random(8).numbers(n * n);
    for (e, x) in x.iter_mut().enumerate() {
        if e % n > e / n {
            *x = T::of(0.0);
        }
    }
    let results = batch(&x, 1, &run(n, n));
    assert!(results.numbers[0] == x);
    assert!(results.numbers[1].iter().all(|&tau| tau == T::of(0.0)));
    let packed = [x, results.numbers[1].clone()].concat();
    let q = Matrix::of(n, &batch(&packed, 1, &columns(n, n, n)).numbers[0]);
    assert!(q.data == Matrix::identity(n).data);
}

fn not_finite<T: Real>() {
    for n in [1, 4, 9, 33, 70] {
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

in_both! {
    factors large_factors columns_of_q large_columns_of_q large_at_every_scale large_triangles not_finite
}
