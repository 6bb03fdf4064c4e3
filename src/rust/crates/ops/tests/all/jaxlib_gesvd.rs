//! jaxlib's `gesvd`: `A = U diag(s) Vᴴ` up to rounding, with all, some and no singular vectors.

use crate::common::{
    ascending, assert_small, count, dims, for_every_dtype, handler, is_nan, orthogonality, ratio,
    run, same, shapes, Mat, Number, Random,
};
use xla_ffi::testing::{Call, Frame};

const SIZES: [usize; 7] = [1, 2, 3, 5, 17, 33, 65];

fn call<T: Number>(batch: &[i64], (m, n): (usize, usize), x: &[T], mode: u8) -> Call {
    let k = m.min(n);
    let (columns, rows) = if mode == b'A' { (m, n) } else { (k, k) };
    Call::new()
        .arg(&dims(batch, &[m, n]), x)
        .ret_aliasing(0)
        .ret::<T::Real>(&dims(batch, &[k]))
        .ret::<T>(&dims(batch, &[m, columns]))
        .ret::<T>(&dims(batch, &[rows, n]))
        .ret::<i32>(batch)
        .attr("mode", mode)
}

fn done<T: Number>(call: Call) -> Frame {
    run(call.build(), &format!("lapack_{}gesvd_ffi", T::LETTER))
}

#[track_caller]
fn check<T: Number>((m, n): (usize, usize), x: &[T], what: &str) {
    let (k, a) = (m.min(n), Mat::new(m, n, x));
    for mode in [b'A', b'S'] {
        let frame = done::<T>(call(&[], (m, n), x, mode));
        assert_eq!(frame.ret::<i32>(4), [0], "{what}");
        let (s, u, vt) = (
            frame.ret::<T::Real>(1),
            frame.ret::<T>(2),
            frame.ret::<T>(3),
        );
        let (u, vt) = (Mat::new(m, u.len() / m, u), Mat::new(vt.len() / n, n, vt));
        let product = u.columns(k).scaled(s);
        let product = product.times(&vt.adjoint().columns(k).adjoint());
        let residual = a.plus(&product, -1.0);
        assert_small(ratio::<T>(&residual, m.max(n), a.norm1()), what);
        assert_small(orthogonality::<T>(&u), what);
        assert_small(orthogonality::<T>(&vt.adjoint()), what);
        let upwards: Vec<T::Real> = s.iter().rev().copied().collect();
        assert!(ascending(&upwards) && upwards[0].c().re >= 0.0, "{what}");
        // The values alone are found in another way.
        let alone = done::<T>(call(&[], (m, n), x, b'N'));
        for (one, other) in alone.ret::<T::Real>(1).iter().zip(s) {
            let tolerance = 30.0 * k as f64 * T::EPS * s[0].c().re;
            assert!((one.c().re - other.c().re).abs() <= tolerance, "{what}");
        }
    }
}

fn every_size_and_shape<T: Number>() {
    let mut random = Random(81);
    let far_from_square = [(90, 3), (3, 90), (40, 20)];
    for (m, n) in SIZES.into_iter().flat_map(shapes).chain(far_from_square) {
        check((m, n), &random.matrix::<T>(m * n), &format!("{m} x {n}"));
    }
}

fn special_matrices<T: Number>() {
    let n = 20;
    type Element = fn(usize, usize) -> f64;
    let kinds: [(&str, Element); 6] = [
        ("zero", |_, _| 0.0),
        ("identity", |i, j| f64::from(u8::from(i == j))),
        ("rank one", |i, j| (i + 1) as f64 * (j + 2) as f64),
        ("Hilbert", |i, j| 1.0 / (i + j + 1) as f64),
        ("tiny", |i, j| 1e-30 * (i * i + 7 * j + 1) as f64),
        ("huge", |i, j| 1e30 * (i * i + 7 * j + 1) as f64),
    ];
    for (name, element) in kinds {
        let x = Mat::make(n, n, |i, j| element(i, j).into()).to::<T>();
        check((n, n), &x, name);
    }
}

fn batches_threads_and_nan<T: Number>() {
    let mut random = Random(82);
    for (batch, m, n) in [
        (&[3_i64][..], 5, 4),
        (&[2, 3], 4, 5),
        (&[60], 4, 4),
        (&[5], 17, 20),
    ] {
        let mut x = random.matrix::<T>(count(batch) * m * n);
        x[m * n + 1] = T::of(f64::NAN.into());
        let all = done::<T>(call(batch, (m, n), &x, b'S'));
        let k = m.min(n);
        for (i, one) in x.chunks(m * n).enumerate() {
            let s = &all.ret::<T::Real>(1)[i * k..][..k];
            let u = &all.ret::<T>(2)[i * m * k..][..m * k];
            let vt = &all.ret::<T>(3)[i * k * n..][..k * n];
            if i == 1 {
                assert!(s.iter().all(is_nan) && u.iter().chain(vt).all(is_nan));
                assert_eq!(all.ret::<i32>(4)[i], -4);
                continue;
            }
            let alone = done::<T>(call(&[], (m, n), one, b'S'));
            assert!(alone.ret::<T::Real>(1) == s && alone.ret::<T>(2) == u);
            assert!(alone.ret::<T>(3) == vt && all.ret::<i32>(4)[i] == 0);
        }
        for threads in [1, 2, 5, 8] {
            let again = done::<T>(call(batch, (m, n), &x, b'S').threads(threads));
            assert!(same::<T::Real>(again.ret(1), all.ret(1)));
            assert!(same::<T>(again.ret(2), all.ret(2)) && same::<T>(again.ret(3), all.ret(3)));
        }
    }
}

for_every_dtype!(every_size_and_shape special_matrices batches_threads_and_nan);

#[test]
fn zero_sized_operands_succeed() {
    for (batch, shape) in [(&[][..], (0, 0)), (&[0], (4, 4)), (&[3], (0, 2))] {
        done::<f64>(call::<f64>(batch, shape, &[], b'S'));
    }
    // Without columns all singular vectors are unit vectors.
    let frame = done::<f64>(call::<f64>(&[2], (3, 0), &[], b'A'));
    let identity = Mat::identity(3).to::<f64>();
    assert_eq!(frame.ret::<f64>(2), [identity.clone(), identity].concat());
}

#[test]
fn bad_operands_are_named() {
    let message = |call: Call| {
        let failure = call
            .run(handler("lapack_dgesvd_ffi"))
            .expect_err("bad input");
        failure.to_string()
    };
    assert_eq!(
        message(call(&[], (2, 1), &[1.0_f64; 2], b'V')),
        "INVALID_ARGUMENT: lapack_dgesvd_ffi: attribute `mode` must be 'A', 'S' or 'N', got 'V'"
    );
    assert_eq!(
        message(call::<f64>(&[0], (100_000, 100_000), &[], b'N')),
        "INVALID_ARGUMENT: lapack_dgesvd_ffi: a matrix of 100000 x 100000 needs more workspace \
         than LAPACK's integers can count"
    );
}
