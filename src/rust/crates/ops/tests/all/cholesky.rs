//! `cholesky`: `A = L Lᴴ` or `Uᴴ U` up to rounding, the rest zero, and NaN where there is none.

use crate::common::{
    assert_small, dims, for_every_dtype, handler, is_nan, ratio, run, start, Mat, Number, Random,
    C, ON_CUDA, SIZES,
};
use xla_ffi::testing::Call;

fn call<T: Number>(batch: &[i64], n: usize, a: &[T]) -> Call {
    let dims = dims(batch, &[n, n]);
    start().arg(&dims, a).ret::<T>(&dims)
}

fn factor<T: Number>(call: Call) -> Vec<T> {
    run(call.build(), "cholesky").ret::<T>(0).to_vec()
}

fn definite<T: Number>(random: &mut Random, n: usize) -> Vec<T> {
    let x = Mat::new(n, n, &random.matrix::<T>(n * n));
    let shift = Mat::make(n, n, |i, j| C::from(if i == j { 1.0 } else { 0.0 }));
    x.times(&x.adjoint()).plus(&shift, 1.0).to()
}

/// `a` with another value where the row is above (`upper`) or below the diagonal.
fn with_other<T: Number>(a: &[T], n: usize, upper: bool, value: f64) -> Vec<T> {
    let elements = a.iter().enumerate();
    let kept = elements.map(|(at, &v)| match (at % n, at / n) {
        (i, j) if i < j && upper || i > j && !upper => T::of(value.into()),
        _ => v,
    });
    kept.collect()
}

fn every_size_and_triangle<T: Number>() {
    let mut random = Random(41);
    for n in SIZES {
        let a = definite::<T>(&mut random, n);
        let whole = Mat::new(n, n, &a);
        let lower = factor::<T>(call(&[], n, &with_other(&a, n, true, f64::NAN)));
        assert!(
            lower == with_other(&lower, n, true, 0.0),
            "{n}: not a triangle"
        );
        let l = Mat::new(n, n, &lower);
        let residual = whole.plus(&l.times(&l.adjoint()), -1.0);
        assert_small(
            ratio::<T>(&residual, n, whole.norm1()),
            &format!("lower, {n}"),
        );
        for uplo in ["L".into(), xla_ffi::testing::Value::from(b'L')] {
            assert!(factor::<T>(call(&[], n, &a).attr("uplo", uplo)) == lower);
        }
        let upper = with_other(&a, n, false, f64::INFINITY);
        let upper = factor::<T>(call(&[], n, &upper).attr("uplo", "U"));
        assert!(
            upper == with_other(&upper, n, false, 0.0),
            "{n}: not a triangle"
        );
        let u = Mat::new(n, n, &upper);
        let residual = whole.plus(&u.adjoint().times(&u), -1.0);
        assert_small(
            ratio::<T>(&residual, n, whole.norm1()),
            &format!("upper, {n}"),
        );
    }
}

fn what_has_no_factor_is_nan_and_alone<T: Number>() {
    let mut random = Random(42);
    for n in [3, 65] {
        let good: Vec<T> = (0..4).flat_map(|_| definite::<T>(&mut random, n)).collect();
        let want = factor::<T>(call(&[4], n, &good));
        let mut a = good.clone();
        a[n * n] = T::of((-1.0).into());
        a[2 * n * n + 1] = T::of(f64::NAN.into());
        let mut aliased = start()
            .arg(&dims(&[4], &[n, n]), &a)
            .ret_aliasing(0)
            .build();
        aliased
            .call(handler("cholesky"))
            .expect("cholesky in place");
        for threads in [1, 3] {
            let got = factor::<T>(call(&[4], n, &a).threads(threads));
            let [first, second, third, fourth] = [0, 1, 2, 3].map(|i| &got[i * n * n..][..n * n]);
            assert!(second.iter().chain(third).all(is_nan));
            assert!(first == &want[..n * n] && fourth == &want[3 * n * n..]);
            assert!(crate::common::same(aliased.ret::<T>(0), &got));
        }
    }
}

/// Of parts for several threads, alone and in a batch; checked by what it makes of some vectors.
fn a_large_matrix<T: Number>() {
    const N: usize = 700;
    let mut random = Random(43);
    let x = Mat::new(N, 3, &random.matrix::<T>(N * 3));
    let whole = Mat::new(N, N, &random.hermitian::<T>(N));
    let whole = whole.plus(&Mat::identity(N), 3.0 * N as f64);
    let a = whole.to::<T>();
    for uplo in [b'L', b'U'] {
        let triangle = factor::<T>(call(&[], N, &a).attr("uplo", uplo));
        if !T::COMPLEX && !ON_CUDA {
            let twice = [&a[..], &a[..]].concat();
            for threads in [2, 3] {
                let call = |batch: &[i64], a: &[T]| call(batch, N, a).attr("uplo", uplo);
                assert!(factor::<T>(call(&[], &a).threads(threads)) == triangle);
                let both = factor::<T>(call(&[2], &twice).threads(threads));
                assert!(both[..N * N] == triangle && both[N * N..] == triangle);
            }
        }
        let factor = Mat::new(N, N, &triangle);
        let (left, right) = match uplo {
            b'L' => (factor.clone(), factor.adjoint()),
            _ => (factor.adjoint(), factor.clone()),
        };
        let residual = whole.times(&x).plus(&left.times(&right.times(&x)), -1.0);
        let ratio = ratio::<T>(&residual, N, whole.norm1() * x.norm1());
        assert_small(ratio, "A - L L*");
    }
}

for_every_dtype!(every_size_and_triangle what_has_no_factor_is_nan_and_alone a_large_matrix);

#[test]
fn zero_sized_operands_succeed() {
    for (batch, n) in [(&[][..], 0), (&[0], 4), (&[3], 0)] {
        assert!(factor::<f64>(call::<f64>(batch, n, &[])).is_empty());
    }
}

#[test]
fn bad_operands_are_named() {
    let message = |call: Call| {
        let failure = call.run(handler("cholesky")).expect_err("bad input");
        failure.to_string()
    };
    assert_eq!(
        message(start().arg(&[2, 3], &[1_f32; 6]).ret::<f32>(&[2, 3])),
        "INVALID_ARGUMENT: cholesky: argument `a` must be square, got 2 x 3"
    );
    assert_eq!(
        message(start().arg(&[2, 2], &[1_f32; 4]).ret::<f32>(&[2])),
        "INVALID_ARGUMENT: cholesky: result `factor` must have shape (2,2), got (2)"
    );
    assert_eq!(
        message(call(&[], 2, &[1_f32; 4]).attr("uplo", "X")),
        "INVALID_ARGUMENT: cholesky: attribute `uplo` must be 'L' or 'U', got 'X'"
    );
}

/// There may be any number of matrices without elements: none costs memory.
#[test]
fn countless_empty_matrices_cost_nothing() {
    let a: [f64; 0] = [];
    for batch in [&[1 << 31][..], &[1 << 40], &[1 << 31, 1 << 30]] {
        assert!(factor::<f64>(call(batch, 0, &a)).is_empty());
    }
}
