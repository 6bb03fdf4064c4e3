//! `crossprod`: products of tall matrices.

use crate::common::{handler, run, start};
use xla_ffi::testing::Call;

const N: usize = 9_001;

fn numbers(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|i| (step * i as f64).sin()).collect()
}

fn dims(rows: usize, cols: usize) -> [i64; 2] {
    [rows as i64, cols as i64]
}

fn product(threads: usize, p: usize, q: usize) -> Call {
    start()
        .threads(threads)
        .arg(&dims(N, p), &numbers(N * p, 0.7))
        .arg(&dims(N, q), &numbers(N * q, 1.3))
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let w = numbers(N, 0.2);
    for (p, q) in [(3, 8), (8, 3), (1, 6), (40, 2)] {
        let (x, y) = (numbers(N * p, 0.7), numbers(N * q, 1.3));
        let mut first = Vec::new();
        for threads in [1, 2, 5] {
            let call = product(threads, p, q).arg(&[N as i64], &w);
            let z = run(call.ret::<f64>(&dims(p, q)).build(), "crossprod")
                .ret::<f64>(0)
                .to_vec();
            for (e, z) in z.iter().enumerate() {
                let (i, j) = (e / q, e % q);
                let terms = (0..N).map(|r| x[r * p + i] * w[r] * y[r * q + j]);
                let want: f64 = terms.sum();
                assert!((z - want).abs() < 1e-10, "{p} x {q}: {z} for {want}");
            }
            if first.is_empty() {
                first.clone_from(&z);
            }
            assert_eq!(z, first, "{threads} threads");
        }
    }
}

/// Products of the same rows in one call are those of a call for each, but for the order of sums; each with both sides
/// either way round, and one of them without columns.
#[test]
fn several_products_in_one_call() {
    let (x, y, w) = (numbers(N * 5, 0.7), numbers(N * 2, 1.3), numbers(N, 0.2));
    let mut first: Vec<Vec<f64>> = Vec::new();
    for threads in [1, 3] {
        let call = start()
            .threads(threads)
            .arg(&dims(N, 5), &x)
            .arg(&dims(N, 2), &y)
            .arg(&dims(N, 5), &x)
            .arg(&dims(N, 5), &x)
            .arg(&[N as i64], &w)
            .arg(&dims(N, 2), &y)
            .arg(&dims(N, 0), &[0.0; 0])
            .arg(&dims(N, 2), &y)
            .arg(&dims(N, 5), &x)
            .ret::<f64>(&dims(5, 2))
            .ret::<f64>(&dims(5, 5))
            .ret::<f64>(&dims(2, 0))
            .ret::<f64>(&dims(2, 5));
        let done = run(call.build(), "crossprod");
        let results: Vec<_> = [0, 1, 3].map(|i| done.ret::<f64>(i).to_vec()).into();
        let term = |r: usize, i: usize, j: usize| x[r * 5 + i] * y[r * 2 + j];
        for (i, j) in (0..5).flat_map(|i| [(i, 0), (i, 1)]) {
            let want: f64 = (0..N).map(|r| term(r, i, j)).sum();
            assert!((results[0][i * 2 + j] - want).abs() < 1e-10, "({i}, {j})");
            assert!((results[2][j * 5 + i] - want).abs() < 1e-10, "({j}, {i})");
        }
        for e in 0..25 {
            let terms = (0..N).map(|r| x[r * 5 + e / 5] * w[r] * x[r * 5 + e % 5]);
            let want: f64 = terms.sum();
            assert!((results[1][e] - want).abs() < 1e-10, "{e}");
        }
        if first.is_empty() {
            first.clone_from(&results);
        }
        assert_eq!(results, first, "{threads} threads");
    }
}

#[test]
fn nothing_adds_up_to_zero() {
    for (n, p, q) in [(0, 2, 3), (5, 0, 3), (5, 2, 0)] {
        let call = start()
            .arg(&dims(n, p), &vec![1.0f32; n * p])
            .arg(&dims(n, q), &vec![1.0f32; n * q])
            .ret::<f32>(&dims(p, q));
        assert_eq!(
            run(call.build(), "crossprod").ret::<f32>(0),
            vec![0.0; p * q]
        );
    }
}

#[test]
fn bad_calls_are_named() {
    let message = |call: Call| {
        let failure = call.build().call(handler("crossprod"));
        failure.expect_err("an error").message
    };
    let rows = start()
        .arg(&[2, 1], &[1.0f64, 2.0])
        .arg(&[3, 1], &[1.0f64, 2.0, 3.0])
        .ret::<f64>(&[1, 1]);
    assert!(message(rows).contains("argument `y` must have shape (2,1), got (3,1)"));
    let result = product(1, 2, 2).ret::<f64>(&[2, 3]);
    assert!(message(result).contains("result `z` must have shape (2,2), got (2,3)"));
    let weights = product(1, 2, 2).arg(&[3], &[1.0f64; 3]).ret::<f64>(&[2, 2]);
    assert!(message(weights).contains("must have shape (9001)"));
    let two = product(1, 2, 2)
        .arg(&[N as i64], &numbers(N, 1.0))
        .arg(&[N as i64], &numbers(N, 1.0))
        .ret::<f64>(&[2, 2]);
    assert!(message(two).contains("more than one argument of weights"));
    let half = product(1, 2, 2).arg(&dims(N, 1), &numbers(N, 1.0));
    let half = half.ret::<f64>(&[2, 2]).ret::<f64>(&[1, 1]);
    assert!(message(half).contains("a product without `y`"));
    let further = product(1, 2, 2)
        .arg(&dims(N, 1), &numbers(N, 1.0))
        .arg(&dims(N, 1), &numbers(N, 1.0))
        .ret::<f64>(&[2, 2]);
    assert!(message(further).contains("as many products as results are expected"));
}
