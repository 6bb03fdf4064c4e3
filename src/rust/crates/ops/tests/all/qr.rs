//! `geqrf` and `orgqr`: `A = Q R` up to rounding, `Q` orthonormal, for every size and dtype.

use crate::common::{
    assert_small, count, dims, for_every_dtype, handler, is_nan, orthogonality, ratio, run, same,
    same_or_close, shapes, start, Mat, Number, Random, C, ON_CUDA, SIZES,
};
use xla_ffi::testing::Call;

fn geqrf<T: Number>(batch: &[i64], m: usize, n: usize, a: &[T]) -> (Vec<T>, Vec<T>) {
    let call = start()
        .arg(&dims(batch, &[m, n]), a)
        .ret::<T>(&dims(batch, &[m, n]))
        .ret::<T>(&dims(batch, &[m.min(n)]));
    let frame = run(call.build(), "geqrf");
    assert!(same(frame.arg(0), a), "the input was written");
    (frame.ret::<T>(0).to_vec(), frame.ret::<T>(1).to_vec())
}

fn orgqr<T: Number>(batch: &[i64], (m, n): (usize, usize), packed: &[T], tau: &[T]) -> Vec<T> {
    let k = tau.len() / count(batch).max(1);
    let call = start()
        .arg(&dims(batch, &[m, n]), packed)
        .arg(&dims(batch, &[k]), tau)
        .ret::<T>(&dims(batch, &[m, k]));
    let frame = run(call.build(), "orgqr");
    assert!(same(frame.arg(0), packed), "the input was written");
    frame.ret::<T>(0).to_vec()
}

fn every_size_and_shape<T: Number>() {
    let mut random = Random(11);
    for (m, n) in SIZES.into_iter().flat_map(shapes) {
        let (k, a) = (m.min(n), random.matrix::<T>(m * n));
        let (packed, tau) = geqrf(&[], m, n, &a);
        let q = Mat::new(m, k, &orgqr(&[], (m, n), &packed, &tau));
        let (a, r) = (Mat::new(m, n, &a), Mat::new(m, n, &packed).upper(k));
        let residual = a.plus(&q.times(&r), -1.0);
        assert_small(
            ratio::<T>(&residual, m.max(n), a.norm1()),
            &format!("A - QR, {m} x {n}"),
        );
        assert_small(orthogonality::<T>(&q), &format!("Q of {m} x {n}"));
    }
}

fn batches_and_threads<T: Number>() {
    let mut random = Random(12);
    for (batch, m, n) in [
        (&[3_i64][..], 5, 4),
        (&[2, 3], 4, 5),
        (&[300], 4, 4),
        (&[20], 33, 17),
    ] {
        let (k, count) = (m.min(n), count(batch));
        let a = random.matrix::<T>(count * m * n);
        let (packed, tau) = geqrf(batch, m, n, &a);
        let q = orgqr(batch, (m, n), &packed, &tau);
        for (i, one) in a.chunks(m * n).enumerate() {
            let (alone, factors) = geqrf(&[], m, n, one);
            assert!(same_or_close(&packed[i * m * n..][..m * n], &alone));
            assert!(same_or_close(&tau[i * k..][..k], &factors));
            let columns = orgqr(&[], (m, n), &alone, &factors);
            assert!(same_or_close(&q[i * m * k..][..m * k], &columns));
        }
        for threads in [1, 2, 5] {
            let call = start()
                .arg(&dims(batch, &[m, n]), &a)
                .ret_aliasing(0)
                .ret::<T>(&dims(batch, &[k]))
                .threads(threads);
            let frame = run(call.build(), "geqrf");
            assert!(frame.ret::<T>(0) == packed && frame.ret::<T>(1) == tau);
        }
    }
}

fn not_finite<T: Number>() {
    let (m, n) = (6, 4);
    let good = Random(13).matrix::<T>(3 * m * n);
    let (packed, tau) = geqrf(&[3], m, n, &good);
    let columns = orgqr(&[3], (m, n), &packed, &tau);
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = good.clone();
        a[m * n + 7] = T::of(bad.into());
        let (got, factors) = geqrf(&[3], m, n, &a);
        let q = orgqr(&[3], (m, n), &got, &factors);
        let all_nan = |values: &[T]| values.iter().all(is_nan);
        assert!(all_nan(&got[m * n..2 * m * n]) && all_nan(&factors[n..2 * n]));
        assert!(all_nan(&q[m * n..2 * m * n]));
        for (got, want) in [(&got, &packed), (&q, &columns)] {
            assert!(got[..m * n] == want[..m * n] && got[2 * m * n..] == want[2 * m * n..]);
        }
    }
}

fn special_matrices<T: Number>() {
    let n = 20;
    let zero = vec![T::default(); n * n];
    let identity = Mat::identity(n).to::<T>();
    let singular = Mat::make(n, n, |i, j| C::from((i + 1) as f64 * (j + 1) as f64)).to::<T>();
    for a in [zero, identity, singular] {
        let (packed, tau) = geqrf(&[], n, n, &a);
        let q = Mat::new(n, n, &orgqr(&[], (n, n), &packed, &tau));
        let (a, r) = (Mat::new(n, n, &a), Mat::new(n, n, &packed).upper(n));
        assert_small(
            ratio::<T>(&a.plus(&q.times(&r), -1.0), n, a.norm1()),
            "A - QR",
        );
        assert_small(orthogonality::<T>(&q), "Q");
    }
}

/// Of many blocks of reflections and of parts for several threads, checked by what it makes of some vectors.
fn a_large_matrix<T: Number>() {
    const N: usize = 700;
    let mut random = Random(14);
    let (a, x) = (random.matrix::<T>(N * N), random.matrix::<T>(N * 3));
    let factors = |threads| {
        let (shape, length) = (dims(&[], &[N, N]), dims(&[], &[N]));
        let call = start().arg(&shape, &a).ret::<T>(&shape);
        let call = call.ret::<T>(&length).threads(threads);
        let frame = run(call.build(), "geqrf");
        let (packed, tau) = (frame.ret::<T>(0).to_vec(), frame.ret::<T>(1));
        let call = start().arg(&shape, &packed).arg(&length, tau);
        let call = call.ret::<T>(&shape).threads(threads);
        let q = run(call.build(), "orgqr").ret::<T>(0).to_vec();
        (packed, q)
    };
    let (packed, q) = factors(3);
    if !ON_CUDA {
        assert!(factors(1) == (packed.clone(), q.clone()));
    }
    let (a, q) = (Mat::new(N, N, &a), Mat::new(N, N, &q));
    let (r, x) = (Mat::new(N, N, &packed).upper(N), Mat::new(N, 3, &x));
    let residual = a.times(&x).plus(&q.times(&r.times(&x)), -1.0);
    assert_small(ratio::<T>(&residual, N, a.norm1() * x.norm1()), "A - QR");
    let residual = x.plus(&q.adjoint().times(&q.times(&x)), -1.0);
    assert_small(ratio::<T>(&residual, N, x.norm1()), "Q");
}

for_every_dtype! {
    every_size_and_shape batches_and_threads not_finite special_matrices a_large_matrix
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
        let (packed, tau) = geqrf::<f64>(batch, m, n, &[]);
        assert!(packed.is_empty() && tau.is_empty());
    }
    assert!(orgqr::<f64>(&[], (3, 0), &[], &[]).is_empty());
    assert!(orgqr::<f64>(&[0], (3, 2), &[], &[]).is_empty());
    // More matrices than there is memory for, of no elements each.
    let call = start()
        .arg::<f64>(&[1 << 40, 0, 2], &[])
        .ret::<f64>(&[1 << 40, 0, 2])
        .ret::<f64>(&[1 << 40, 0]);
    assert_eq!(call.run(handler("geqrf")), Ok(()));
}

#[test]
fn bad_operands_are_named() {
    let message = |target, call: Call| {
        let failure = call.run(handler(target)).expect_err("bad input");
        failure.to_string()
    };
    let square = || start().arg(&[2, 2], &[1_f64; 4]);
    assert_eq!(
        message("geqrf", square().ret::<f64>(&[2, 2]).ret::<f64>(&[3])),
        "INVALID_ARGUMENT: geqrf: result `tau` must have shape (2), got (3)"
    );
    assert_eq!(
        message("orgqr", square().arg(&[3], &[1_f64; 3]).ret::<f64>(&[2, 3])),
        "INVALID_ARGUMENT: orgqr: argument `tau` must have at most min(m, n) = 2 factors, got 3"
    );
    assert_eq!(
        message("orgqr", square().arg(&[2], &[1_f64; 2]).ret::<f64>(&[2, 1])),
        "INVALID_ARGUMENT: orgqr: result `q` must have shape (2,2), got (2,1)"
    );
    assert_eq!(
        message("orgqr", square().arg(&[2], &[1_f32; 2]).ret::<f64>(&[2, 2])),
        "INVALID_ARGUMENT: orgqr: argument `tau` must be f64, got f32"
    );
    if ON_CUDA {
        return;
    }
    let vast = start()
        .arg::<f32>(&[0, 100_000_000], &[])
        .ret::<f32>(&[0, 100_000_000])
        .ret::<f32>(&[0]);
    assert_eq!(
        message("geqrf", vast),
        "INVALID_ARGUMENT: geqrf: a matrix of 0 x 100000000 needs more workspace than LAPACK's \
         integers can count"
    );
}
