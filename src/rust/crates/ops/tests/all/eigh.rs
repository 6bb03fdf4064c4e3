//! `eigh`: `A = V diag(W) Vᴴ` up to rounding, for every size, triangle and dtype.

use crate::common::{
    ascending, assert_small, count, dims, for_every_dtype, handler, is_nan, orthogonality, ratio,
    run, same_or_close, start, Mat, Number, Random, ON_CUDA,
};
use xla_ffi::testing::{Call, Value};

fn call<T: Number>(batch: &[i64], n: usize, a: &[T]) -> Call {
    start()
        .arg(&dims(batch, &[n, n]), a)
        .ret::<T>(&dims(batch, &[n, n]))
        .ret::<T::Real>(&dims(batch, &[n]))
}

fn parts<T: Number>(call: Call) -> (Vec<T>, Vec<T::Real>) {
    let frame = run(call.build(), "eigh");
    (frame.ret::<T>(0).to_vec(), frame.ret::<T::Real>(1).to_vec())
}

#[track_caller]
fn check<T: Number>(a: &Mat, (v, w): &(Vec<T>, Vec<T::Real>), what: &str) {
    let v = Mat::new(a.n, a.n, v);
    let residual = a.plus(&v.scaled(w).times(&v.adjoint()), -1.0);
    assert_small(ratio::<T>(&residual, a.n, a.norm1()), what);
    assert_small(orthogonality::<T>(&v), what);
    assert!(ascending(w), "{what}");
}

/// Each triangle alone has the matrix; the other one may hold anything.
fn every_size_and_triangle<T: Number>() {
    let mut random = Random(31);
    for n in [1, 2, 3, 4, 5, 8, 16, 17, 32, 33, 64, 65, 128, 129] {
        let a = random.hermitian::<T>(n);
        let other = |upper: bool| -> Vec<T> {
            let elements = a.iter().enumerate();
            let garbage = elements.map(|(at, &v)| match (at % n).cmp(&(at / n)) {
                std::cmp::Ordering::Less if !upper => T::of(f64::NAN.into()),
                std::cmp::Ordering::Greater if upper => T::of(f64::INFINITY.into()),
                _ => v,
            });
            garbage.collect()
        };
        let whole = Mat::new(n, n, &a);
        let lower = parts::<T>(call(&[], n, &other(false)));
        check(&whole, &lower, &format!("lower, {n}"));
        for uplo in [Value::from("L"), b'L'.into()] {
            assert!(parts::<T>(call(&[], n, &other(false)).attr("uplo", uplo)) == lower);
        }
        for uplo in [Value::from("U"), b'U'.into()] {
            let upper = parts::<T>(call(&[], n, &other(true)).attr("uplo", uplo));
            check(&whole, &upper, &format!("upper, {n}"));
        }
    }
}

fn special_matrices<T: Number>() {
    let n = 20;
    type Element = fn(usize, usize) -> f64;
    let kinds: [(&str, Element); 4] = [
        ("zero", |_, _| 0.0),
        ("identity", |i, j| f64::from(u8::from(i == j))),
        ("rank one", |i, j| ((i + 1) * (j + 1)) as f64),
        ("graded", |i, j| 10_f64.powi(-((i + j) as i32))),
    ];
    for (name, element) in kinds {
        let a = Mat::make(n, n, |i, j| element(i, j).into()).to::<T>();
        check(&Mat::new(n, n, &a), &parts::<T>(call(&[], n, &a)), name);
    }
}

fn batches_threads_aliases_and_nan<T: Number>() {
    let mut random = Random(32);
    for (batch, n) in [
        (&[3_i64][..], 5),
        (&[2, 3], 4),
        (&[200], 3),
        (&[9], 8),
        (&[5], 33),
    ] {
        let count = count(batch);
        let mut a: Vec<T> = (0..count).flat_map(|_| random.hermitian::<T>(n)).collect();
        a[n * n + 1] = T::of(f64::NAN.into());
        a[3 * n * n - 1] = T::of(f64::NEG_INFINITY.into());
        let (v, w) = parts::<T>(call(batch, n, &a));
        for (i, one) in a.chunks(n * n).enumerate() {
            let alone = (v[i * n * n..][..n * n].to_vec(), w[i * n..][..n].to_vec());
            if i == 1 || i == 2 {
                assert!(alone.0.iter().all(is_nan));
                assert!(alone.1.iter().all(is_nan));
            } else {
                let (v, w) = parts::<T>(call(&[], n, one));
                if ON_CUDA && n > 32 {
                    // Vectors have another phase there.
                    assert!(same_or_close(&alone.1, &w));
                    check(&Mat::new(n, n, one), &alone, "one of a batch");
                } else {
                    assert!(alone == (v, w));
                }
            }
        }
        for threads in [1, 2, 3, 5, 8] {
            let call = start()
                .arg(&dims(batch, &[n, n]), &a)
                .ret_aliasing(0)
                .ret::<T::Real>(&dims(batch, &[n]))
                .threads(threads);
            let again = parts::<T>(call);
            assert!(format!("{again:?}") == format!("{:?}", (&v, &w)));
        }
    }
}

for_every_dtype!(every_size_and_triangle special_matrices batches_threads_aliases_and_nan);

#[test]
fn zero_sized_operands_succeed() {
    for (batch, n) in [(&[][..], 0), (&[0], 4), (&[3], 0)] {
        let (v, w) = parts::<f64>(call::<f64>(batch, n, &[]));
        assert!(v.is_empty() && w.is_empty());
    }
}

#[test]
fn bad_operands_are_named() {
    let message = |call: Call| {
        let failure = call.run(handler("eigh")).expect_err("bad input");
        failure.to_string()
    };
    let good = || call(&[], 2, &[1_f64; 4]);
    assert_eq!(
        message(
            start()
                .arg(&[2, 3], &[1_f64; 6])
                .ret::<f64>(&[2, 3])
                .ret::<f64>(&[2])
        ),
        "INVALID_ARGUMENT: eigh: argument `a` must be square, got 2 x 3"
    );
    assert_eq!(
        message(good().attr("uplo", "X")),
        "INVALID_ARGUMENT: eigh: attribute `uplo` must be 'L' or 'U', got 'X'"
    );
    assert_eq!(
        message(good().attr("uplo", "lower")),
        "INVALID_ARGUMENT: eigh: attribute `uplo` must be one letter, got \"lower\""
    );
    assert_eq!(
        message(good().attr("uplo", true)),
        "INVALID_ARGUMENT: eigh: attribute `uplo` must be a string or a scalar ui8, \
         got a scalar pred"
    );
}
