//! `svd`: `A = U diag(S) Vᴴ` up to rounding, for every size, shape and dtype.

use crate::common::{
    ascending, assert_small, count, dims, for_every_dtype, handler, is_nan, orthogonality, ratio,
    run, shapes, start, Mat, Number, Random, C, ON_CUDA,
};
use xla_ffi::testing::Call;

/// `U`, `S`, `Vᴴ`.
type Parts<T> = (Vec<T>, Vec<<T as Number>::Real>, Vec<T>);

fn call<T: Number>(batch: &[i64], m: usize, n: usize, a: &[T]) -> Call {
    let k = m.min(n);
    start()
        .arg(&dims(batch, &[m, n]), a)
        .ret::<T>(&dims(batch, &[m, k]))
        .ret::<T::Real>(&dims(batch, &[k]))
        .ret::<T>(&dims(batch, &[k, n]))
}

fn parts<T: Number>(call: Call) -> Parts<T> {
    let frame = run(call.build(), "svd");
    (
        frame.ret::<T>(0).to_vec(),
        frame.ret::<T::Real>(1).to_vec(),
        frame.ret::<T>(2).to_vec(),
    )
}

#[track_caller]
fn check<T: Number>(a: &Mat, (u, s, vt): &Parts<T>, what: &str) {
    let (m, n, k) = (a.m, a.n, a.m.min(a.n));
    let (u, vt) = (Mat::new(m, k, u), Mat::new(k, n, vt));
    let residual = a.plus(&u.scaled(s).times(&vt), -1.0);
    assert_small(ratio::<T>(&residual, m.max(n), a.norm1()), what);
    assert_small(orthogonality::<T>(&u), what);
    assert_small(orthogonality::<T>(&vt.adjoint()), what);
    let upwards: Vec<T::Real> = s.iter().rev().copied().collect();
    assert!(ascending(&upwards) && upwards[0].c().re >= 0.0, "{what}");
}

fn every_size_and_shape<T: Number>() {
    let mut random = Random(21);
    for (m, n) in [1, 2, 3, 4, 5, 8, 16, 17, 32, 33, 64, 65]
        .into_iter()
        .flat_map(shapes)
    {
        let a = random.matrix::<T>(m * n);
        let parts = parts::<T>(call(&[], m, n, &a));
        check(&Mat::new(m, n, &a), &parts, &format!("{m} x {n}"));
    }
    // Far from square, which LAPACK treats in ways of its own, and large.
    for (m, n) in [(200, 3), (3, 200), (40, 20), (128, 128), (129, 129)] {
        let a = random.matrix::<T>(m * n);
        let parts = parts::<T>(call(&[], m, n, &a));
        check(&Mat::new(m, n, &a), &parts, &format!("{m} x {n}"));
    }
}

fn special_matrices<T: Number>() {
    let n = 20;
    type Element = fn(usize, usize) -> f64;
    let kinds: [(&str, Element); 5] = [
        ("zero", |_, _| 0.0),
        ("identity", |i, j| f64::from(u8::from(i == j))),
        ("rank one", |i, j| (i + 1) as f64 * (j + 2) as f64),
        ("Hilbert", |i, j| 1.0 / (i + j + 1) as f64),
        ("tiny", |i, j| 1e-30 * (i * i + 7 * j + 1) as f64),
    ];
    for (name, element) in kinds {
        let a = Mat::make(n, n, |i, j| element(i, j).into()).to::<T>();
        check(&Mat::new(n, n, &a), &parts::<T>(call(&[], n, n, &a)), name);
    }
}

/// Row-major operands of the wide case: what is column-major otherwise.
fn transposed<T: Number>() {
    let mut random = Random(22);
    for (m, n) in [(3, 5), (5, 3), (4, 4)] {
        let (k, a) = (m.min(n), random.matrix::<T>(m * n));
        let (u, s, vt) = parts::<T>(call(&[], m, n, &a).attr("transposed", true));
        let rows = |data: &[T], m: usize, n: usize| {
            let data = Mat::new(n, m, data);
            Mat::make(m, n, |i, j| data.at(j, i))
        };
        let columns = (rows(&u, m, k).to::<T>(), s, rows(&vt, k, n).to::<T>());
        check(&rows(&a, m, n), &columns, &format!("{m} x {n}"));
        let plain = parts::<T>(call(&[], m, n, &a).attr("transposed", false));
        assert!(plain == parts::<T>(call(&[], m, n, &a)));
    }
}

/// A matrix of a batch gives what it gives alone. On CUDA small ones of a batch go another way than
/// one by itself, and the results need only be as good.
fn same_or_as_good<T: Number>(a: &Mat, got: &Parts<T>) {
    if ON_CUDA {
        check(a, got, "in a batch");
    } else {
        assert!(*got == parts::<T>(call(&[], a.m, a.n, &a.to::<T>())));
    }
}

fn batches_threads_and_nan<T: Number>() {
    let mut random = Random(23);
    for (batch, m, n) in [
        (&[3_i64][..], 5, 4),
        (&[2, 3], 4, 5),
        (&[60], 4, 4),
        (&[9], 6, 2),
        (&[5], 17, 20),
        (&[3], 65, 64),
        (&[4], 3, 40),
        (&[4], 40, 1),
    ] {
        let (k, count) = (m.min(n), count(batch));
        let mut a = random.matrix::<T>(count * m * n);
        a[m * n + 1] = T::of(f64::NAN.into());
        a[3 * m * n - 1] = T::of(f64::INFINITY.into());
        let (u, s, vt) = parts::<T>(call(batch, m, n, &a));
        for (i, one) in a.chunks(m * n).enumerate() {
            let alone = (
                u[i * m * k..][..m * k].to_vec(),
                s[i * k..][..k].to_vec(),
                vt[i * k * n..][..k * n].to_vec(),
            );
            if i == 1 || i == 2 {
                assert!(alone.0.iter().chain(&alone.2).all(is_nan));
                assert!(alone.1.iter().all(is_nan));
            } else {
                same_or_as_good(&Mat::new(m, n, one), &alone);
            }
        }
        for threads in [1, 2, 3, 5, 8] {
            let again = parts::<T>(call(batch, m, n, &a).threads(threads));
            let bytes = |p: &Parts<T>| format!("{p:?}");
            assert!(bytes(&again) == bytes(&(u.clone(), s.clone(), vt.clone())));
        }
    }
}

for_every_dtype!(every_size_and_shape special_matrices transposed batches_threads_and_nan);

#[test]
fn singular_values_by_hand() {
    let a = [
        C::new(0.0, 3.0),
        C::default(),
        C::default(),
        C::new(-4.0, 0.0),
    ];
    let (_, s, _) = parts::<C>(call(&[], 2, 2, &a));
    assert_eq!(s, [4.0, 3.0]);
}

#[test]
fn zero_sized_operands_succeed() {
    for (batch, m, n) in [
        (&[][..], 0, 0),
        (&[], 0, 3),
        (&[], 3, 0),
        (&[0], 4, 4),
        (&[3], 0, 2),
    ] {
        let (u, s, vt) = parts::<f64>(call::<f64>(batch, m, n, &[]));
        assert!(u.is_empty() && s.is_empty() && vt.is_empty());
    }
}

#[test]
fn bad_operands_are_named() {
    let message = |call: Call| {
        let failure = call.run(handler("svd")).expect_err("bad input");
        failure.to_string()
    };
    let good = || start().arg(&[2, 3], &[C::default(); 6]).ret::<C>(&[2, 2]);
    assert_eq!(
        message(good().ret::<C>(&[2]).ret::<C>(&[2, 3])),
        "INVALID_ARGUMENT: svd: result `s` must be f64, got c128"
    );
    assert_eq!(
        message(good().ret::<f64>(&[2]).ret::<C>(&[3, 3])),
        "INVALID_ARGUMENT: svd: result `vt` must have shape (2,3), got (3,3)"
    );
    assert_eq!(
        message(
            good()
                .ret::<f64>(&[2])
                .ret::<C>(&[2, 3])
                .attr("transposed", 1_i32)
        ),
        "INVALID_ARGUMENT: svd: attribute `transposed` must be a scalar pred, got a scalar i32"
    );
    // LAPACK counts with 32 bits; cuSOLVER is not asked about matrices that are not there.
    if ON_CUDA {
        return;
    }
    let vast = start()
        .arg::<f32>(&[0, 100_000, 100_000], &[])
        .ret::<f32>(&[0, 100_000, 100_000])
        .ret::<f32>(&[0, 100_000])
        .ret::<f32>(&[0, 100_000, 100_000]);
    assert_eq!(
        message(vast),
        "INVALID_ARGUMENT: svd: a matrix of 100000 x 100000 needs more workspace than LAPACK's \
         integers can count"
    );
}
