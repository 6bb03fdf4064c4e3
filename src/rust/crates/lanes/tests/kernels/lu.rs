use crate::*;
use lanes::lu::Lu;
use lanes::Run;

fn run<T: Real>(m: usize, n: usize) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, x, count| {
        let (mut a, mut pivots) = (x.to_vec(), vec![0; m.min(n) * count]);
        let mut info = vec![-1; count];
        let (matrices, places, infos) = (&mut a, &mut pivots, &mut info);
        let kernel = Lu {
            run: Run::in_place((m, n), matrices, THREADS),
            pivots: places,
            info: infos,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![a],
            ints: vec![pivots, info],
        }
    }
}

/// `L` and `U` multiplied, their rows where they were.
fn product<T: Real>(m: usize, result: &Results<T>) -> Matrix {
    let lu = Matrix::of(m, &result.numbers[0]);
    let rank = m.min(lu.cols());
    let l = Matrix::from_fn(m, rank, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => lu.at(i, j),
    });
    let u = Matrix::from_fn(
        rank,
        lu.cols(),
        |i, j| if i > j { 0.0 } else { lu.at(i, j) },
    );
    assert!(
        l.size() <= 1.0 + T::ROUNDING.f64(),
        "a pivot was not the largest"
    );
    let mut product = l.times(&u);
    for (i, &pivot) in result.ints[0].iter().enumerate().rev() {
        assert!(
            (i + 1..=m).contains(&(pivot as usize)),
            "pivot {pivot} of row {i}"
        );
        product.exchange_rows(i, pivot as usize - 1);
    }
    product
}

/// `count` random matrices and their factors multiplied
fn expect_factors<T: Real>(random: &mut Random, m: usize, n: usize, count: usize) {
    let x: Vec<T> = random.numbers(m * n * count);
    let results = batch(&x, count, &run(m, n));
    for at in 0..count {
        let result = results.of(at, count);
        let a = Matrix::of(m, part(&x, at, count));
        // `U` may be larger than the matrix.
        let size = a.size() + Matrix::of(m, &result.numbers[0]).size();
        product(m, &result).expect::<T>(&a, m.min(n), size);
        assert_eq!(result.ints[1], [0]);
    }
}

fn factors<T: Real>() {
    let mut random = Random(1);
    for n in SIZES {
        for m in [n, n / 2 + 1, 64 - n / 2] {
            for count in COUNTS {
                expect_factors::<T>(&mut random, m, n, count);
            }
        }
    }
}

/// Rows and columns of a large factor, columns beyond the square included.
fn large_factors<T: Real>() {
    let mut random = Random(4);
    for n in LARGE {
        for m in [n, n / 2 + 1, n + 35] {
            expect_factors::<T>(&mut random, m, n, 2);
        }
    }
    // More than is packed at a time.
    for m in [540, 560, 600] {
        expect_factors::<T>(&mut random, m, 560, 1);
    }
}

/// Of elements that are equally large the first one is the pivot, wherever its row was before.
fn ties<T: Real>() {
    for n in [5, 16, 40, 70] {
        // Exact in every step: a triangle of ones, its rows in another order and each there twice.
        let element = |e: usize| {
            let (i, j) = (e % n, e / n);
            f64::from(u8::from((i * 7 + 3) % n / 2 >= j))
        };
        let x: Vec<T> = (0..n * n).map(|e| T::of(element(e))).collect();
        let results = batch(&x.repeat(7), 7, &run(n, n));
        let result = results.of(3, 7);
        let mut a = Matrix::of(n, &x);
        for (j, &pivot) in result.ints[0].iter().enumerate() {
            let largest = (j..n).fold(j, |best, i| {
                if a.at(best, j).abs() < a.at(i, j).abs() {
                    i
                } else {
                    best
                }
            });
            assert_eq!(pivot as usize - 1, largest, "column {j} of {n}");
            a.exchange_rows(j, largest);
            if a.at(j, j) == 0.0 {
                continue;
            }
            for i in j + 1..n {
                let l = a.at(i, j) / a.at(j, j);
                for c in j + 1..n {
                    let value = a.at(i, c) - l * a.at(j, c);
                    a.set(i, c, value);
                }
            }
        }
    }
}

/// The first column without a pivot is told, and the rest is computed.
fn singular<T: Real>() {
    for n in [2, 5, 9, 17, 64, 100, 300] {
        for bad in [0, n / 2, n - 1] {
            let mut a: Vec<T> = Random(2).numbers(n * n);
            a[bad * n..(bad + 1) * n].fill(T::ZERO);
            let results = batch(&a.repeat(7), 7, &run(n, n));
            let result = results.of(6, 7);
            assert_eq!(result.ints[1], [bad as i32 + 1]);
            product(n, &result).expect::<T>(&Matrix::of(n, &a), n, 4.0);
        }
    }
}

/// Pivots so small that their reciprocals are infinite.
fn subnormal<T: Real>() {
    let smallest = T::of(T::SMALLEST.f64() / 8.0);
    let a = [smallest, T::of(smallest.f64() / 2.0), T::ZERO, T::ONE];
    let results = batch(&a.repeat(7), 7, &run(2, 2));
    assert_eq!(
        results.of(3, 7).numbers[0],
        [smallest, T::of(0.5), T::ZERO, T::ONE]
    );
}

fn not_finite<T: Real>() {
    for n in [1, 4, 9, 33, 70, 290] {
        let x: Vec<T> = Random(3).numbers(n * n * 7);
        for place in [0, n * n / 2, n * n - 1] {
            for result in spoilt(&x, place, &run(n, n)) {
                assert!(all_nan(&result.numbers[0]));
                assert_eq!(result.ints[0], (1..=n as i32).collect::<Vec<_>>());
                assert_eq!(result.ints[1], [0]);
            }
        }
    }
}

in_both! { factors large_factors ties singular subnormal not_finite }
