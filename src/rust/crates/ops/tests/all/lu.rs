//! `lu`: `P A = L U` up to rounding, for every size, shape and precision; bad input told exactly.

use crate::common::{
    abs, assert_small, dims, for_every_dtype, handler, is_nan, ratio, run, shapes, start, Mat,
    Number, Random, C, ON_CUDA, SIZES,
};
use xla_ffi::testing::{Call, Frame};
use xla_ffi::HandlerFn;

fn lu() -> HandlerFn {
    handler("lu")
}

fn call<T: Number>(batch: &[i64], m: usize, n: usize, data: &[T]) -> Call {
    start()
        .arg(&dims(batch, &[m, n]), data)
        .ret::<T>(&dims(batch, &[m, n]))
        .ret::<i32>(&dims(batch, &[m.min(n)]))
}

fn frame<T: Number>(batch: &[i64], m: usize, n: usize, data: &[T]) -> Frame {
    call(batch, m, n, data).build()
}

/// The factors and pivots of `data`.
fn factor<T: Number>(batch: &[i64], m: usize, n: usize, data: &[T]) -> (Vec<T>, Vec<i32>) {
    let frame = run(frame(batch, m, n, data), "lu");
    assert!(frame.arg::<T>(0) == data, "the input was written");
    (frame.ret::<T>(0).to_vec(), frame.ret::<i32>(1).to_vec())
}

/// `|P A - L U| / (max(m, n) |A| eps)`; also checks what partial pivoting promises.
fn residual<T: Number>(m: usize, n: usize, a: &[T], packed: &[T], pivots: &[i32]) -> f64 {
    let k = m.min(n);
    let (mut permuted, packed) = (Mat::new(m, n, a), Mat::new(m, n, packed));
    let norm = permuted.norm1();
    assert_eq!(pivots.len(), k);
    for (i, &p) in pivots.iter().enumerate() {
        let p = usize::try_from(p - 1).expect("pivots count from 1");
        assert!((i..m).contains(&p), "pivot {p} of row {i}");
        for j in 0..n {
            permuted.data.swap(i + j * m, p + j * m);
        }
    }
    let lower = Mat::make(m, k, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => C::default(),
        std::cmp::Ordering::Equal => 1.0.into(),
        std::cmp::Ordering::Greater => packed.at(i, j),
    });
    // Complex pivots are chosen by |re| + |im|.
    let largest = lower.data.iter().fold(0.0, |l: f64, &v| l.max(abs(v)));
    assert!(largest <= 2_f64.sqrt() + 8.0 * T::EPS, "{largest} in L");
    let residual = permuted.plus(&lower.times(&packed.upper(k)), -1.0);
    ratio::<T>(&residual, m.max(n), norm)
}

fn every_size_and_shape<T: Number>() {
    let mut random = Random(1);
    for (m, n) in SIZES.into_iter().flat_map(shapes) {
        let a = random.matrix::<T>(m * n);
        let (packed, pivots) = factor(&[], m, n, &a);
        assert_small(residual(m, n, &a, &packed, &pivots), &format!("{m} x {n}"));
    }
}

/// Enough matrices that a pool is worth it, and few: the same whatever the number of threads.
fn threads_change_nothing<T: Number>() {
    let mut random = Random(6);
    for (count, n) in [(500, 3), (40, 17), (3, 65)] {
        let a = random.matrix::<T>(count * n * n);
        let (packed, pivots) = factor(&[count as i64], n, n, &a);
        for threads in 1..=8 {
            let call = call(&[count as i64], n, n, &a).threads(threads);
            let frame = run(call.build(), "lu");
            assert!(frame.ret::<T>(0) == packed && frame.ret::<i32>(1) == pivots);
        }
    }
}

/// Of parts for several threads, alone and in a batch, in place or not; checked by what it makes of some vectors.
fn a_large_matrix<T: Number>() {
    const N: usize = 700;
    let mut random = Random(7);
    let (a, x) = (random.matrix::<T>(2 * N * N), random.matrix::<T>(N * 3));
    let [first, second] = [&a[..N * N], &a[N * N..]];
    let (packed, pivots) = factor(&[], N, N, second);
    if !T::COMPLEX && !ON_CUDA {
        let run_with = |call: Call| {
            let frame = run(call.build(), "lu");
            (frame.ret::<T>(0).to_vec(), frame.ret::<i32>(1).to_vec())
        };
        for threads in [2, 3] {
            let alone = run_with(call(&[], N, N, second).threads(threads));
            assert!(alone == (packed.clone(), pivots.clone()));
            let both = run_with(call(&[2], N, N, &a).threads(threads));
            assert!(both.0[N * N..] == packed && both.1[N..] == pivots);
        }
        let aliased = start().arg(&dims(&[2], &[N, N]), &a).ret_aliasing(0);
        let both = run_with(aliased.ret::<i32>(&dims(&[2], &[N])).threads(2));
        assert!(both.0[N * N..] == packed && both.1[N..] == pivots);
        assert!(both.0[..N * N] == factor(&[], N, N, first).0);
    }
    let (a, packed, x) = (
        Mat::new(N, N, second),
        Mat::new(N, N, &packed),
        Mat::new(N, 3, &x),
    );
    let mut product = a.times(&x);
    for (i, &p) in pivots.iter().enumerate() {
        for j in 0..3 {
            product.data.swap(i + j * N, p as usize - 1 + j * N);
        }
    }
    let lower = Mat::make(N, N, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => C::default(),
        std::cmp::Ordering::Equal => 1.0.into(),
        std::cmp::Ordering::Greater => packed.at(i, j),
    });
    let residual = product.plus(&lower.times(&packed.upper(N).times(&x)), -1.0);
    assert_small(ratio::<T>(&residual, N, a.norm1() * x.norm1()), "P A - L U");
}

for_every_dtype! {
    every_size_and_shape special_matrices not_finite threads_change_nothing a_large_matrix
}

#[test]
fn a_small_matrix_by_hand() {
    // Columns (1, 3) and (2, 4): the second row is the pivot, and 1/3 of it is subtracted.
    let (packed, pivots) = factor(&[], 2, 2, &[1.0_f64, 3.0, 2.0, 4.0]);
    assert_eq!(packed[..3], [3.0, 1.0 / 3.0, 4.0]);
    assert!((packed[3] - 2.0 / 3.0).abs() < 1e-15);
    assert_eq!(pivots, [2, 2]);
}

#[test]
fn zero_sized_operands_succeed() {
    for (batch, m, n) in [
        (&[][..], 0, 0),
        (&[], 0, 3),
        (&[], 3, 0),
        (&[0], 4, 4),
        (&[2, 0], 4, 3),
        (&[3], 0, 2),
    ] {
        let (packed, pivots) = factor::<f64>(batch, m, n, &[]);
        assert!(packed.is_empty() && pivots.is_empty());
    }
}

#[test]
fn a_batch_is_the_matrices_one_by_one() {
    let mut random = Random(2);
    for (m, n) in [(1, 1), (4, 4), (7, 5), (5, 7), (33, 33), (40, 20)] {
        let a = random.matrix::<f32>(6 * m * n);
        let (packed, pivots) = factor(&[2, 3], m, n, &a);
        for (i, one) in a.chunks(m * n).enumerate() {
            let (alone, swaps) = factor(&[], m, n, one);
            assert_eq!(packed[i * m * n..][..m * n], alone);
            assert_eq!(pivots[i * m.min(n)..][..m.min(n)], swaps);
        }
    }
}

#[test]
fn in_place_gives_the_same() {
    let (m, n) = (17, 9);
    let a = Random(3).matrix::<f64>(3 * m * n);
    let dims = [3, m as i64, n as i64];
    let mut aliased = start()
        .arg(&dims, &a)
        .ret_aliasing(0)
        .ret::<i32>(&[3, 9])
        .build();
    aliased.call(lu()).expect("lu in place");
    let (packed, pivots) = factor(&[3], m, n, &a);
    assert_eq!(aliased.ret::<f64>(0), packed);
    assert_eq!(aliased.ret::<i32>(1), pivots);
}

fn special_matrices<T: Number>() {
    type Element = fn(usize, usize) -> f64;
    let n = 20;
    let kinds: [(&str, Element); 6] = [
        ("zero", |_, _| 0.0),
        ("identity", |i, j| f64::from(u8::from(i == j))),
        ("rank one", |i, j| (i + 1) as f64 * (j + 2) as f64),
        ("Hilbert", |i, j| 1.0 / (i + j + 1) as f64),
        ("graded", |i, j| 10_f64.powi(-(i as i32)) + (i * j) as f64),
        ("tiny", |i, j| {
            1e-30 * (f64::from(u8::from(i == j)) + (i + 7 * j) as f64)
        }),
    ];
    for (name, element) in kinds {
        let a: Vec<T> = (0..n * n)
            .map(|at| T::of(element(at % n, at / n).into()))
            .collect();
        let (packed, pivots) = factor(&[], n, n, &a);
        assert_small(residual(n, n, &a, &packed, &pivots), name);
    }
}

fn not_finite<T: Number>() {
    let (m, n) = (6, 5);
    let good = Random(4).matrix::<T>(3 * m * n);
    let (packed, pivots) = factor(&[3], m, n, &good);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in [0, m * n - 1] {
            let mut a = good.clone();
            a[m * n + at] = T::of(bad.into());
            let mut frame = frame(&[3], m, n, &a);
            frame.call(lu()).expect("lu of a batch with one bad matrix");
            let (got, swaps) = (frame.ret::<T>(0), frame.ret::<i32>(1));
            assert!(got[m * n..2 * m * n].iter().all(is_nan));
            assert_eq!(swaps[n..2 * n], [1, 2, 3, 4, 5]);
            assert!(got[..m * n] == packed[..m * n] && got[2 * m * n..] == packed[2 * m * n..]);
            assert!(swaps[..n] == pivots[..n] && swaps[2 * n..] == pivots[2 * n..]);
        }
    }
}

#[test]
fn many_threads_compute_what_one_does() {
    let mut random = Random(5);
    let sizes = [3_usize, 33, 65, 129, 160];
    let inputs: Vec<_> = (0..15)
        .map(|i| {
            (
                sizes[i % sizes.len()],
                random.matrix::<f64>(sizes[i % sizes.len()].pow(2)),
            )
        })
        .collect();
    let run = || -> Vec<_> { inputs.iter().map(|(n, a)| factor(&[], *n, *n, a)).collect() };
    let sequential = run();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            assert!(thread.join().expect("a thread without panic") == sequential);
        }
    });
}

fn message(call: Call) -> String {
    call.run(lu()).expect_err("bad input").to_string()
}

#[test]
fn bad_operands_are_named() {
    let good = || start().arg(&[3, 2], &[1_f32; 6]);
    assert_eq!(
        message(
            start()
                .arg(&[2, 2], &[1_i32; 4])
                .ret::<i32>(&[2, 2])
                .ret::<i32>(&[2])
        ),
        "INVALID_ARGUMENT: lu: argument `a` must be f32, f64, c64 or c128, got i32"
    );
    assert_eq!(
        message(
            start()
                .arg(&[4], &[1_f32; 4])
                .ret::<f32>(&[4])
                .ret::<i32>(&[4])
        ),
        "INVALID_ARGUMENT: lu: argument `a` must have rank 2 or more, got rank 1"
    );
    assert_eq!(
        message(good().ret::<f32>(&[2, 3]).ret::<i32>(&[2])),
        "INVALID_ARGUMENT: lu: result `lu` must have shape (3,2), got (2,3)"
    );
    assert_eq!(
        message(good().ret::<f64>(&[3, 2]).ret::<i32>(&[2])),
        "INVALID_ARGUMENT: lu: result `lu` must be f32, got f64"
    );
    assert_eq!(
        message(good().ret::<f32>(&[3, 2]).ret::<i32>(&[3])),
        "INVALID_ARGUMENT: lu: result `pivots` must have shape (2), got (3)"
    );
    assert_eq!(
        message(good().ret::<f32>(&[3, 2]).ret::<i64>(&[2])),
        "INVALID_ARGUMENT: lu: result `pivots` must be i32, got i64"
    );
    assert_eq!(
        message(good().ret::<f32>(&[3, 2])),
        "INVALID_ARGUMENT: lu: expected 2 results (`lu`, `pivots`), got 1"
    );
    assert_eq!(
        message(
            good()
                .arg(&[], &[1_f32])
                .ret::<f32>(&[3, 2])
                .ret::<i32>(&[2])
        ),
        "INVALID_ARGUMENT: lu: expected 1 argument (`a`), got 2"
    );
}

#[test]
fn sizes_beyond_the_solvers_integers_are_refused_before_any_work() {
    let call = |dims: &[i64]| {
        start()
            .arg::<f32>(dims, &[])
            .ret::<f32>(&[])
            .ret::<i32>(&[])
    };
    assert_eq!(
        message(call(&[1 << 31, 1])),
        "INVALID_ARGUMENT: lu: argument `a` must have at most 2147483647 rows and columns, \
         got 2147483648 x 1"
    );
    assert_eq!(
        message(call(&[i64::MAX, 4])),
        "INVALID_ARGUMENT: lu: argument `a` must have a size that fits in memory, \
         got shape (9223372036854775807,4)"
    );
}
