//! Eigenvalues of Hermitian matrices.

use super::kinds::{hermitian, mixed, scales, some_if_large, spectra, unscaled};
use crate::common::{
    ascending, assert_small, count, dims, for_every_dtype, is_nan, orthogonality, ratio, run, same,
    Mat, Number, Random,
};
use xla_ffi::testing::{Call, Frame};

/// By jaxlib's target, with eigenvectors (V) or without (N).
fn syevd<T: Number>(batch: &[i64], n: usize, x: &[T], mode: u8, threads: usize) -> Frame {
    let call = Call::new()
        .arg(&dims(batch, &[n, n]), x)
        .ret_aliasing(0)
        .ret::<T::Real>(&dims(batch, &[n]))
        .ret::<i32>(batch)
        .attr("mode", mode)
        .attr("uplo", b'U')
        .threads(threads);
    let name = if T::COMPLEX { "heevd" } else { "syevd" };
    run(call.build(), &format!("lapack_{}{name}_ffi", T::LETTER))
}

/// The values may have an error of `lost` times the norm besides.
#[track_caller]
fn check<T: Number>(a: &Mat, v: &Mat, w: &Mat, lost: f64, what: &str) {
    let w: Vec<f64> = w.data.iter().map(|w| w.re).collect();
    let residual = a.plus(&v.scaled(&w).times(&v.adjoint()), -1.0);
    let ratio = ratio::<T>(&residual, a.n, a.norm1());
    assert_small((ratio - lost / T::EPS).max(0.0), what);
    assert_small(orthogonality::<T>(v), what);
    assert!(ascending(&w), "{what}");
}

fn kinds_of_spectra<T: Number>() {
    let mut random = Random(34);
    for n in [1, 2, 4, 9, 16, 33, 96, 97] {
        for (kind, values) in some_if_large(n, spectra(n, T::EPS)) {
            let a = hermitian::<T>(&mut random, &values);
            for (place, scale, lost) in some_if_large(n, scales::<T>().into()) {
                let what = format!("{kind} {place} {n}");
                let x = Mat::make(n, n, |i, j| a.at(i.min(j), i.max(j)) * scale);
                // Hermitian to the last digit.
                let conjugate = |i, j| if i > j { x.at(i, j).conj() } else { x.at(i, j) };
                let x = Mat::make(n, n, conjugate).to::<T>();
                let (full, alone) = (syevd(&[], n, &x, b'V', 1), syevd(&[], n, &x, b'N', 1));
                let values =
                    |frame: &Frame| unscaled(&Mat::new(n, 1, frame.ret::<T::Real>(1)), scale);
                let (w, alone) = (values(&full), values(&alone));
                let x = unscaled(&Mat::new(n, n, &x), scale);
                let v = Mat::new(n, n, full.ret::<T>(0));
                check::<T>(&x, &v, &w, lost, &what);
                for (one, other) in alone.data.iter().zip(&w.data) {
                    let tolerance = 30.0 * n as f64 * (T::EPS + lost);
                    assert!((one - other).re.abs() <= tolerance, "{what}");
                }
            }
        }
    }
}

/// What comes out depends on the matrix alone.
fn mixed_batches<T: Number>() {
    let mut random = Random(32);
    for (batch, n) in [
        (&[1_i64][..], 4),
        (&[2, 3], 4),
        (&[200], 3),
        (&[9], 6),
        (&[17], 2),
        (&[18], 16),
        (&[5], 33),
        (&[18], 65),
        (&[3], 97),
    ] {
        let mut a = Vec::new();
        for one in mixed::<T>(&mut random, count(batch), n, n).chunks(n * n) {
            let one = Mat::new(n, n, one);
            a.extend(one.plus(&one.adjoint(), 1.0).to::<T>());
        }
        for mode in [b'V', b'N'] {
            let all = syevd(batch, n, &a, mode, 1);
            let (v, w) = (all.ret::<T>(0), all.ret::<T::Real>(1));
            for (i, one) in a.chunks(n * n).enumerate() {
                let (v, w) = (&v[i * n * n..][..n * n], &w[i * n..][..n]);
                let what = format!("{i} of {n}");
                if !one.iter().all(|x| x.c().re.is_finite()) {
                    assert!(w.iter().all(is_nan), "{what}");
                    assert!(v.iter().all(is_nan) || mode == b'N', "{what}");
                    assert!(all.ret::<i32>(2)[i] > 0, "{what}");
                    continue;
                }
                let alone = syevd(&[], n, one, mode, 1);
                assert!(alone.ret::<T::Real>(1) == w, "{what}");
                if mode == b'V' {
                    assert!(alone.ret::<T>(0) == v, "{what}");
                    let a = Mat::new(n, n, one);
                    check::<T>(&a, &Mat::new(n, n, v), &Mat::new(n, 1, w), 0.0, &what);
                }
            }
            for threads in [2, 3, 8] {
                let again = syevd(batch, n, &a, mode, threads);
                assert!(same(again.ret::<T::Real>(1), w));
                assert!(mode == b'N' || same(again.ret::<T>(0), v));
            }
        }
    }
}

for_every_dtype!(kinds_of_spectra mixed_batches);

#[test]
fn a_large_matrix() {
    let n = 300;
    let x = Random(35).hermitian::<f64>(n);
    let full = syevd(&[], n, &x, b'V', 1);
    let (v, w) = (
        Mat::new::<f64>(n, n, full.ret(0)),
        Mat::new::<f64>(n, 1, full.ret(1)),
    );
    check::<f64>(&Mat::new(n, n, &x), &v, &w, 0.0, "300");
}

/// Elements over three hundred powers of ten, in either direction.
#[test]
fn graded_over_the_whole_range() {
    for sign in [1, -1] {
        let n = 7;
        let power = |i: usize, j: usize| sign * (150 - 25 * (i + j) as i32);
        let a = Mat::make(n, n, |i, j| {
            (10_f64.powi(power(i, j)) * (1 + i * j) as f64).into()
        });
        let full = syevd(&[], n, &a.to::<f64>(), b'V', 1);
        let (v, w) = (
            Mat::new::<f64>(n, n, full.ret(0)),
            Mat::new::<f64>(n, 1, full.ret(1)),
        );
        check::<f64>(&a, &v, &w, 0.0, &format!("{sign}"));
    }
}
