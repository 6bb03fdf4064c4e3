//! Singular values.

use super::kinds::{general, mixed, scales, some_if_large, spectra, unscaled};
use crate::common::{
    ascending, assert_small, count, dims, for_every_dtype, is_nan, orthogonality, ratio, run, same,
    Mat, Number, Random,
};
use xla_ffi::testing::{Call, Frame};

/// By jaxlib's target, with all singular vectors (A), some (S) or none (N).
fn gesdd<T: Number>(batch: &[i64], m: usize, n: usize, x: &[T], mode: u8, threads: usize) -> Frame {
    let k = m.min(n);
    let (columns, rows) = if mode == b'A' { (m, n) } else { (k, k) };
    let call = Call::new()
        .arg(&dims(batch, &[m, n]), x)
        .ret_aliasing(0)
        .ret::<T::Real>(&dims(batch, &[k]))
        .ret::<T>(&dims(batch, &[m, columns]))
        .ret::<T>(&dims(batch, &[rows, n]))
        .ret::<i32>(batch)
        .attr("mode", mode)
        .threads(threads);
    run(call.build(), &format!("lapack_{}gesdd_ffi", T::LETTER))
}

/// Checks the factors, of which there may be more than singular values; the values may have an
/// error of `lost` times the norm besides.
#[track_caller]
fn check_factors<T: Number>(a: &Mat, (u, s, vt): (&Mat, &[f64], &Mat), lost: f64, what: &str) {
    let k = s.len();
    let product = u.columns(k).scaled(s);
    let product = product.times(&vt.adjoint().columns(k).adjoint());
    let residual = a.plus(&product, -1.0);
    let size = a.m.max(a.n);
    let ratio = ratio::<T>(&residual, size, a.norm1());
    assert_small((ratio - lost / T::EPS).max(0.0), what);
    assert_small(orthogonality::<T>(u), what);
    assert_small(orthogonality::<T>(&vt.adjoint()), what);
    let upwards: Vec<f64> = s.iter().rev().copied().collect();
    assert!(ascending(&upwards) && upwards[0] >= 0.0, "{what}");
}

/// All singular vectors, and the values alone.
fn kinds_of_spectra<T: Number>() {
    let mut random = Random(24);
    for (m, n) in [
        (1, 1),
        (2, 2),
        (4, 4),
        (9, 5),
        (6, 16),
        (33, 33),
        (96, 90),
        (97, 96),
    ] {
        let k = m.min(n);
        for (kind, values) in some_if_large(m, spectra(k, T::EPS)) {
            let a = general::<T>(&mut random, m, n, &values);
            for (place, scale, lost) in some_if_large(m, scales::<T>().into()) {
                let what = format!("{kind} {place} {m} x {n}");
                let x = Mat::make(m, n, |i, j| a.at(i, j) * scale).to::<T>();
                let full = gesdd(&[], m, n, &x, b'A', 1);
                assert_eq!(full.ret::<i32>(4), [0], "{what}");
                let s = unscaled(&Mat::new(k, 1, full.ret::<T::Real>(1)), scale);
                let s: Vec<f64> = s.data.iter().map(|s| s.re).collect();
                let (u, vt) = (full.ret::<T>(2), full.ret::<T>(3));
                let (u, vt) = (Mat::new(m, m, u), Mat::new(n, n, vt));
                let x_unscaled = unscaled(&Mat::new(m, n, &x), scale);
                check_factors::<T>(&x_unscaled, (&u, &s, &vt), lost, &what);
                let alone = gesdd(&[], m, n, &x, b'N', 1);
                let alone = unscaled(&Mat::new(k, 1, alone.ret::<T::Real>(1)), scale);
                for (one, other) in alone.data.iter().zip(&s) {
                    let tolerance = 30.0 * k as f64 * (T::EPS + lost);
                    assert!((one.re - other).abs() <= tolerance, "{what}");
                }
            }
        }
    }
}

/// Equal singular values are the hardest to tell from what does not converge.
fn many_pairs_converge<T: Number>() {
    let mut random = Random(26);
    for n in [5, 17, 33] {
        let pairs: Vec<f64> = (0..n).map(|i| 1.0 / (1 + i / 2) as f64).collect();
        let matrix = |_| general::<T>(&mut random, n, n, &pairs).to::<T>();
        let x: Vec<T> = (0..50).flat_map(matrix).collect();
        let values = gesdd(&[50], n, n, &x, b'N', 2);
        assert_eq!(values.ret::<i32>(4), [0; 50], "{n}");
    }
}

/// What comes out depends on the matrix alone.
fn mixed_batches<T: Number>() {
    let mut random = Random(23);
    for (batch, m, n) in [
        (&[1_i64][..], 3, 3),
        (&[2, 3], 4, 5),
        (&[60], 4, 4),
        (&[9], 6, 2),
        (&[17], 2, 6),
        (&[18], 16, 16),
        (&[5], 17, 20),
        (&[18], 66, 65),
        (&[3], 97, 90),
    ] {
        let (k, a) = (m.min(n), mixed::<T>(&mut random, count(batch), m, n));
        for mode in [b'A', b'S', b'N'] {
            let all = gesdd(batch, m, n, &a, mode, 1);
            let (s, u, vt) = (all.ret::<T::Real>(1), all.ret::<T>(2), all.ret::<T>(3));
            let (u_len, vt_len) = (u.len() / count(batch), vt.len() / count(batch));
            for (i, one) in a.chunks(m * n).enumerate() {
                let s = &s[i * k..][..k];
                let u = &u[i * u_len..][..u_len];
                let vt = &vt[i * vt_len..][..vt_len];
                let what = format!("{i} of {m} x {n}");
                if !one.iter().all(|x| x.c().re.is_finite()) {
                    let vectors = u.iter().chain(vt).all(is_nan) || mode == b'N';
                    assert!(s.iter().all(is_nan) && vectors, "{what}");
                    assert_eq!(all.ret::<i32>(4)[i], -4, "{what}");
                    continue;
                }
                let alone = gesdd(&[], m, n, one, mode, 1);
                assert!(alone.ret::<T::Real>(1) == s, "{what}");
                if mode != b'N' {
                    assert!(alone.ret::<T>(2) == u && alone.ret::<T>(3) == vt, "{what}");
                    let s: Vec<f64> = s.iter().map(|s| s.c().re).collect();
                    let (u, vt) = (Mat::new(m, u_len / m, u), Mat::new(vt_len / n, n, vt));
                    let a = Mat::new(m, n, one);
                    check_factors::<T>(&a, (&u, &s, &vt), 0.0, &what);
                }
            }
            for threads in [2, 3, 8] {
                let again = gesdd(batch, m, n, &a, mode, threads);
                assert!(same(again.ret::<T::Real>(1), s));
                assert!(mode == b'N' || same(again.ret::<T>(2), u) && same(again.ret::<T>(3), vt));
            }
        }
    }
}

for_every_dtype!(kinds_of_spectra many_pairs_converge mixed_batches);

#[test]
fn a_large_matrix() {
    let n = 300;
    let x = Random(25).matrix::<f64>(n * n);
    let full = gesdd(&[], n, n, &x, b'A', 1);
    let (u, vt) = (
        Mat::new::<f64>(n, n, full.ret(2)),
        Mat::new::<f64>(n, n, full.ret(3)),
    );
    check_factors::<f64>(&Mat::new(n, n, &x), (&u, full.ret(1), &vt), 0.0, "300");
}

/// Elements over three hundred powers of ten, in either direction.
#[test]
fn graded_over_the_whole_range() {
    for (m, n, sign) in [(7, 7, 1), (7, 7, -1), (12, 6, 1), (6, 12, -1)] {
        let power = |i: usize, j: usize| sign * (150 - 300 * (i + j) as i32 / (m + n - 2) as i32);
        let a = Mat::make(m, n, |i, j| {
            (10_f64.powi(power(i, j)) * (1 + i * j) as f64).into()
        });
        let full = gesdd(&[], m, n, &a.to::<f64>(), b'A', 1);
        let (u, vt) = (
            Mat::new::<f64>(m, m, full.ret(2)),
            Mat::new::<f64>(n, n, full.ret(3)),
        );
        check_factors::<f64>(&a, (&u, full.ret(1), &vt), 0.0, &format!("{m} x {n}"));
    }
}
