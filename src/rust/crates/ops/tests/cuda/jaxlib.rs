//! jaxlib's targets on CUDA: the same as those on the CPU where LAPACK is behind both, else by what
//! the results must satisfy.

use super::common::{
    abs, ascending, assert_small, dims, fake, for_every_dtype, handler, is_nan, orthogonality,
    ratio, run, same_or_close, start, Mat, Number, Random,
};
use xla_ffi::testing::{Call, Frame, Value};

/// As it is called on the CPU, by the routine's name for real and for complex matrices.
fn on_cpu<T: Number>(call: Call, real: &str, complex: &str) -> Frame {
    let routine = if T::COMPLEX { complex } else { real };
    let target = format!("lapack_{}{routine}_ffi", T::LETTER);
    let handler = ops::find(&target, "host").expect("a target of jaxlib's");
    let mut frame = call.build();
    frame.call(handler).expect("good operands");
    frame
}

fn letter(text: u8) -> Value {
    Value::from(text)
}

fn factorisations<T: Number>() {
    for (count, m, n) in [(1, 4, 4), (3, 5, 5), (2, 7, 4), (2, 4, 7), (2, 140, 3)] {
        let (k, batch) = (m.min(n), [count as i64]);
        let mut a = Random(31).matrix::<T>(count * m * n);
        if count == 3 {
            a[m * n + 2] = T::of(f64::INFINITY.into());
        }
        let lu = || {
            let call = start().arg(&dims(&batch, &[m, n]), &a).ret_aliasing(0);
            call.ret::<i32>(&dims(&batch, &[k])).ret::<i32>(&batch)
        };
        let got = run(lu().build(), "cusolver_getrf_ffi");
        let want = on_cpu::<T>(lu(), "getrf", "getrf");
        assert!(
            same_or_close(got.ret::<T>(0), want.ret::<T>(0)),
            "{m} x {n}"
        );
        assert_eq!(got.ret::<i32>(1), want.ret::<i32>(1));
        assert_eq!(got.ret::<i32>(2), want.ret::<i32>(2));

        let qr = || {
            let call = start().arg(&dims(&batch, &[m, n]), &a).ret_aliasing(0);
            call.ret::<T>(&dims(&batch, &[k]))
        };
        let got = run(qr().build(), "cusolver_geqrf_ffi");
        let want = on_cpu::<T>(qr(), "geqrf", "geqrf");
        assert!(
            same_or_close(got.ret::<T>(0), want.ret::<T>(0)),
            "{m} x {n}"
        );
        assert!(
            same_or_close(got.ret::<T>(1), want.ret::<T>(1)),
            "{m} x {n}"
        );

        if m < n {
            continue;
        }
        let (packed, tau) = (got.ret::<T>(0).to_vec(), got.ret::<T>(1).to_vec());
        let q = || {
            let call = start().arg(&dims(&batch, &[m, n]), &packed);
            call.arg(&dims(&batch, &[k]), &tau).ret_aliasing(0)
        };
        let got = run(q().build(), "cusolver_orgqr_ffi");
        let want = on_cpu::<T>(q(), "orgqr", "ungqr");
        assert!(
            same_or_close(got.ret::<T>(0), want.ret::<T>(0)),
            "{m} x {n}"
        );

        for (left, transpose) in [(true, false), (true, true), (false, false), (false, true)] {
            let shape = if left { [m, 3] } else { [3, m] };
            let c = Random(32).matrix::<T>(count * 3 * m);
            let product = || {
                let call = start().arg(&dims(&batch, &[m, n]), &packed);
                let call = call.arg(&dims(&batch, &[k]), &tau);
                let call = call.arg(&dims(&batch, &shape), &c).ret_aliasing(2);
                call.attr("left", left).attr("transpose", transpose)
            };
            let got = run(product().build(), "cusolver_ormqr_ffi");
            let want = on_cpu::<T>(product(), "ormqr", "unmqr");
            assert!(
                same_or_close(got.ret::<T>(0), want.ret::<T>(0)),
                "{left} {transpose}"
            );
        }
    }
}

/// `n` × `n`, Hermitian and positive definite; the second of them has NaN if there are three.
fn definite<T: Number>(count: usize, n: usize) -> Vec<T> {
    let mut random = Random(33);
    let mut all = Vec::new();
    for _ in 0..count {
        let a = Mat::new(n, n, &random.matrix::<T>(n * n));
        let square = a.times(&a.adjoint());
        all.extend(square.plus(&Mat::identity(n), 1.0).to::<T>());
    }
    if count == 3 {
        all[n * n] = T::of(f64::NAN.into());
    }
    all
}

fn hermitian<T: Number>() {
    for (count, n) in [(1, 5), (3, 5), (2, 40)] {
        let (a, batch) = (definite::<T>(count, n), [count as i64]);
        for lower in [true, false] {
            let uplo = if lower { b'L' } else { b'U' };
            let call = || start().arg(&dims(&batch, &[n, n]), &a).ret_aliasing(0);
            let factor = || call().ret::<i32>(&batch);
            let got = run(factor().attr("lower", lower).build(), "cusolver_potrf_ffi");
            let want = on_cpu::<T>(factor().attr("uplo", letter(uplo)), "potrf", "potrf");
            let close = |a: &[T], b: &[T]| {
                let scale = 100.0 * n as f64;
                let near = |(a, b): (&T, &T)| {
                    (is_nan(a) && is_nan(b)) || abs(a.c() - b.c()) <= scale * T::EPS
                };
                a.iter().zip(b).all(near)
            };
            assert!(
                close(got.ret::<T>(0), want.ret::<T>(0)),
                "{count} {n} {lower}"
            );
            assert_eq!(got.ret::<i32>(1), want.ret::<i32>(1));

            let reduce = || {
                let (all, beside) = (dims(&batch, &[n]), dims(&batch, &[n - 1]));
                let call = call().ret::<T::Real>(&all).ret::<T::Real>(&beside);
                call.ret::<T>(&beside).ret::<i32>(&batch)
            };
            let got = run(reduce().attr("lower", lower).build(), "cusolver_sytrd_ffi");
            let want = on_cpu::<T>(reduce().attr("uplo", letter(uplo)), "sytrd", "hetrd");
            for result in [1, 2] {
                let (got, want) = (got.ret::<T::Real>(result), want.ret::<T::Real>(result));
                let near = |(a, b): (&T::Real, &T::Real)| {
                    (is_nan(a) && is_nan(b)) || abs(a.c() - b.c()) <= 1e4 * T::EPS
                };
                assert!(got.iter().zip(want).all(near), "{count} {n} {lower}");
            }
            assert_eq!(got.ret::<i32>(4), want.ret::<i32>(4));

            for algorithm in [0_u8, 1, 2] {
                let eigen = call()
                    .ret::<T::Real>(&dims(&batch, &[n]))
                    .ret::<i32>(&batch);
                let eigen = eigen
                    .attr("lower", lower)
                    .attr("algorithm", letter(algorithm));
                let frame = run(eigen.build(), "cusolver_syevd_ffi");
                for i in 0..count {
                    let v = &frame.ret::<T>(0)[i * n * n..][..n * n];
                    let w = &frame.ret::<T::Real>(1)[i * n..][..n];
                    let bad = count == 3 && i == 1;
                    assert_eq!(frame.ret::<i32>(2)[i] > 0, bad);
                    if bad {
                        assert!(v.iter().all(is_nan) && w.iter().all(is_nan));
                        continue;
                    }
                    let (a, v) = (Mat::new(n, n, &a[i * n * n..][..n * n]), Mat::new(n, n, v));
                    let residual = a.times(&v).plus(&v.scaled(w), -1.0);
                    assert_small(ratio::<T>(&residual, n, a.norm1()), "eigenvectors");
                    assert!(ascending(w));
                }
            }
        }
    }
}

/// `U`, `s` and `V` as they must be, or NaN all over.
fn check_svd<T: Number>(a: &Mat, bad: bool, (u, s, v): (&[T], &[T::Real], &Mat), info: i32) {
    assert_eq!(info > 0, bad);
    if bad {
        assert!(u.iter().all(is_nan) && s.iter().all(is_nan));
        return;
    }
    let k = a.m.min(a.n);
    let u = Mat::new(a.m, u.len() / a.m, u);
    assert_small(orthogonality::<T>(&u), "U");
    assert_small(orthogonality::<T>(v), "V");
    let product = u.columns(k).scaled(s).times(&v.columns(k).adjoint());
    assert_small(
        ratio::<T>(&a.plus(&product, -1.0), a.m.max(a.n), a.norm1()),
        "A",
    );
}

fn singular_values<T: Number>() {
    for (count, m, n) in [(1, 6, 4), (3, 4, 4), (2, 4, 6), (3, 7, 3), (2, 40, 35)] {
        let (k, batch) = (m.min(n), [count as i64]);
        let mut all = Random(34).matrix::<T>(count * m * n);
        if count == 3 {
            all[2 * m * n - 1] = T::of(f64::NAN.into());
        }
        for full in [true, false] {
            let (columns, rows) = if full { (m, n) } else { (k, k) };
            let start = || {
                let call = start().arg(&dims(&batch, &[m, n]), &all).ret_aliasing(0);
                let call = call.ret::<T::Real>(&dims(&batch, &[k]));
                call.attr("full_matrices", full)
            };
            for target in ["cusolver_gesvdj_ffi", "cusolver_gesvdp_ffi"] {
                let call = |vectors: bool| {
                    let call = start().ret::<T>(&dims(&batch, &[m, columns]));
                    let call = call.ret::<T>(&dims(&batch, &[n, rows])).ret::<i32>(&batch);
                    run(call.attr("compute_uv", vectors).build(), target)
                };
                let (frame, values) = (call(true), call(false));
                assert!(same_or_close(
                    frame.ret::<T::Real>(1),
                    values.ret::<T::Real>(1)
                ));
                for i in 0..count {
                    let a = Mat::new(m, n, &all[i * m * n..][..m * n]);
                    let v = Mat::new(n, rows, &frame.ret::<T>(3)[i * n * rows..][..n * rows]);
                    let u = &frame.ret::<T>(2)[i * m * columns..][..m * columns];
                    let s = &frame.ret::<T::Real>(1)[i * k..][..k];
                    check_svd::<T>(&a, count == 3 && i == 1, (u, s, &v), frame.ret::<i32>(4)[i]);
                }
            }
            // Row-major and wide is column-major and tall.
            for transposed in [false, true] {
                let (rows, cols) = if transposed { (n, m) } else { (m, n) };
                if m < n {
                    continue;
                }
                let u_dims = if transposed {
                    [columns, m]
                } else {
                    [m, columns]
                };
                let call = super::common::start().arg(&dims(&batch, &[rows, cols]), &all);
                let call = call.ret_aliasing(0).ret::<T::Real>(&dims(&batch, &[k]));
                let call = call
                    .ret::<T>(&dims(&batch, &u_dims))
                    .ret::<T>(&dims(&batch, &[n, n]));
                let call = call.ret::<i32>(&batch).attr("full_matrices", full);
                let call = call.attr("compute_uv", true).attr("transposed", transposed);
                let frame = run(call.build(), "cusolver_gesvd_ffi");
                for i in 0..count {
                    let a = Mat::new(m, n, &all[i * m * n..][..m * n]);
                    let vt = Mat::new(n, n, &frame.ret::<T>(3)[i * n * n..][..n * n]);
                    let u = &frame.ret::<T>(2)[i * m * columns..][..m * columns];
                    let s = &frame.ret::<T::Real>(1)[i * k..][..k];
                    let bad = count == 3 && i == 1;
                    check_svd::<T>(&a, bad, (u, s, &vt.adjoint()), frame.ret::<i32>(4)[i]);
                }
            }
        }
    }
}

/// QR factorisations of more rows than our kernel takes: cuBLAS has them at once where there are many,
/// cuSOLVER one by one where there is one less.
fn many_or_few_long_columns<T: Number>() {
    let (m, n) = (257, 2);
    for (count, at_once) in [(64, 1), (63, 0)] {
        let mut a = Random(35).matrix::<T>(count * m * n);
        a[m * n + 2] = T::of(f64::NAN.into());
        let call = || {
            let call = start()
                .arg(&dims(&[count as i64], &[m, n]), &a)
                .ret_aliasing(0);
            call.ret::<T>(&dims(&[count as i64], &[n]))
        };
        let routine = format!("cublas{}geqrfBatched", T::LETTER.to_uppercase());
        let before = fake::calls(&routine);
        let got = run(call().build(), "cusolver_geqrf_ffi");
        assert_eq!(fake::calls(&routine) - before, at_once, "{count}");
        let want = on_cpu::<T>(call(), "geqrf", "geqrf");
        assert!(same_or_close(got.ret::<T>(0), want.ret::<T>(0)), "{count}");
        assert!(same_or_close(got.ret::<T>(1), want.ret::<T>(1)), "{count}");
        assert!(got.ret::<T>(0)[m * n..2 * m * n].iter().all(is_nan));
    }
}

for_every_dtype!(factorisations many_or_few_long_columns hermitian singular_values);

#[test]
fn pivots_become_a_permutation() {
    let permutation = |pivots: &[i32], count: i64, size: i64| {
        let length = pivots.len() as i64 / count;
        let call = start()
            .arg(&[count, length], pivots)
            .ret::<i32>(&[count, size]);
        let frame = run(call.build(), "cu_lu_pivots_to_permutation");
        frame.ret::<i32>(0).to_vec()
    };
    assert_eq!(permutation(&[2, 2, 2, 0, 1, 2], 2, 3), [2, 0, 1, 0, 1, 2]);
    assert_eq!(permutation(&[3, 1], 1, 4), [3, 1, 2, 0]);
    // Out of range, as where a program made them itself: no row is exchanged, none is written past.
    assert_eq!(permutation(&[7, -1], 1, 2), [0, 1]);
    let call = start().arg(&[1, 3], &[0, 1, 2]).ret::<i32>(&[1, 2]);
    let failure = call.run(handler("cu_lu_pivots_to_permutation"));
    assert_eq!(
        failure.expect_err("too many pivots").to_string(),
        "INVALID_ARGUMENT: cu_lu_pivots_to_permutation: argument `pivots` must have at most 2 \
         pivots, got 3"
    );
    // The kernel reads pivots while it writes rows.
    let call = start().arg(&[1, 3], &[2, 2, 2]).ret_aliasing(0);
    let failure = call.run(handler("cu_lu_pivots_to_permutation"));
    assert_eq!(
        failure.expect_err("one memory for both").to_string(),
        "FAILED_PRECONDITION: cu_lu_pivots_to_permutation: argument `pivots` shares its memory with a \
         result, but this op cannot work in place"
    );
}

#[test]
fn bad_operands_are_named() {
    let message = |target, call: Call| {
        let failure = call.run(handler(target)).expect_err("bad input");
        failure.to_string()
    };
    let call = || start().arg(&[2, 2], &[1_f64; 4]).ret_aliasing(0);
    let eigen = call().ret::<f64>(&[2]).ret::<i32>(&[]).attr("lower", true);
    assert_eq!(
        message("cusolver_syevd_ffi", eigen.attr("algorithm", letter(3))),
        "INVALID_ARGUMENT: cusolver_syevd_ffi: attribute `algorithm` must be 0, 1 or 2, got 3"
    );
    let wide = start()
        .arg(&[2, 3], &[1_f64; 6])
        .ret_aliasing(0)
        .ret::<f64>(&[2]);
    let wide = wide.ret::<f64>(&[2, 2]).ret::<f64>(&[2, 3]).ret::<i32>(&[]);
    let wide = wide.attr("full_matrices", false).attr("compute_uv", true);
    assert_eq!(
        message("cusolver_gesvd_ffi", wide),
        "INVALID_ARGUMENT: cusolver_gesvd_ffi: argument `x` must have at least as many rows as \
         columns, got 2 x 3"
    );
    assert_eq!(
        message("cusolver_potrf_ffi", call().ret::<i32>(&[])),
        "INVALID_ARGUMENT: cusolver_potrf_ffi: attribute `lower` must be a scalar pred, got none"
    );
}
