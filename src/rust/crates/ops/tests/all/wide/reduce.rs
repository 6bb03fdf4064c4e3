//! `geqp3`, `sytrd`, `gehrd` and `ormqr`.

use super::kinds::{kinds, ORDER};
use super::{assert_equal, assert_orthogonal, done, probe, reflected, SIZES};
use crate::common::{dims, for_every_dtype, Mat, Number, Random, C};
use xla_ffi::testing::Call;

fn check_geqp3<T: Number>((m, n): (usize, usize), x: &[T], what: &str) {
    let k = m.min(n);
    let call = Call::new()
        .arg(&dims(&[], &[m, n]), x)
        .arg(&[n as i64], &vec![0_i32; n])
        .ret_aliasing(0)
        .ret_aliasing(1)
        .ret::<T>(&[k as i64]);
    let frame = done::<T>(call, "geqp3", "geqp3");
    let (packed, tau) = (Mat::new::<T>(m, n, frame.ret(0)), frame.ret::<T>(2));
    let (a, columns) = (Mat::new(m, n, x), frame.ret::<i32>(1));
    let permuted = Mat::make(m, n, |i, j| a.at(i, columns[j] as usize - 1));
    let p = probe(n);
    let product = reflected(&packed, tau, 0, false, &packed.upper(m).times(&p));
    let size = m.max(n);
    assert_equal::<T>(
        &permuted.times(&p),
        &product,
        size,
        a.norm1(),
        &format!("geqp3, {what}"),
    );
    assert_orthogonal(&packed, tau, 0, &format!("Q of geqp3, {what}"));
}

fn check_gehrd<T: Number>(n: usize, x: &[T], what: &str) {
    let call = Call::new()
        .arg(&dims(&[], &[n, n]), x)
        .ret_aliasing(0)
        .ret::<T>(&[n as i64 - 1])
        .ret::<i32>(&[])
        .attr("low", 1_i32)
        .attr("high", n as i32);
    let frame = done::<T>(call, "gehrd", "gehrd");
    let (packed, tau) = (Mat::new::<T>(n, n, frame.ret(0)), frame.ret::<T>(1));
    let (a, p) = (Mat::new(n, n, x), probe(n));
    let h = Mat::make(n, n, |i, j| {
        if i > j + 1 {
            C::default()
        } else {
            packed.at(i, j)
        }
    });
    let product = h.times(&reflected(&packed, tau, 1, true, &p));
    let product = reflected(&packed, tau, 1, false, &product);
    assert_equal::<T>(
        &a.times(&p),
        &product,
        n,
        a.norm1(),
        &format!("gehrd, {what}"),
    );
    assert_orthogonal(&packed, tau, 1, &format!("Q of gehrd, {what}"));
}

/// The rows and columns in the other order: the upper triangle's reflectors become those of the lower.
fn turned(a: &Mat) -> Mat {
    Mat::make(a.m, a.n, |i, j| a.at(a.m - 1 - i, a.n - 1 - j))
}

fn check_sytrd<T: Number>(n: usize, x: &[T], uplo: u8, what: &str) {
    let what = format!("sytrd {}, {what}", uplo as char);
    let call = Call::new()
        .arg(&dims(&[], &[n, n]), x)
        .ret_aliasing(0)
        .ret::<T::Real>(&[n as i64])
        .ret::<T::Real>(&[n as i64 - 1])
        .ret::<T>(&[n as i64 - 1])
        .ret::<i32>(&[])
        .attr("uplo", uplo);
    let frame = done::<T>(call, "sytrd", "hetrd");
    let (mut d, mut e) = (
        frame.ret::<T::Real>(1).to_vec(),
        frame.ret::<T::Real>(2).to_vec(),
    );
    let (mut packed, mut tau) = (
        Mat::new::<T>(n, n, frame.ret(0)),
        frame.ret::<T>(3).to_vec(),
    );
    let mut a = Mat::new(n, n, x);
    if uplo == b'U' {
        (a, packed) = (turned(&a), turned(&packed));
        d.reverse();
        e.reverse();
        tau.reverse();
    }
    let t = Mat::make(n, n, |i, j| match i.abs_diff(j) {
        0 => d[i].c(),
        1 => e[i.min(j)].c(),
        _ => C::default(),
    });
    let p = probe(n);
    let product = t.times(&reflected(&packed, &tau, 1, true, &p));
    let product = reflected(&packed, &tau, 1, false, &product);
    assert_equal::<T>(&a.times(&p), &product, n, a.norm1(), &what);
    assert_orthogonal(&packed, &tau, 1, &what);
}

fn every_size<T: Number>() {
    let mut random = Random(92);
    for (at, n) in SIZES.into_iter().enumerate() {
        let what = n.to_string();
        let shape = [(n, n), (n + 20, n), (n, n + 20)][at % 3];
        check_geqp3(
            shape,
            &random.matrix::<T>(shape.0 * shape.1),
            &format!("{shape:?}"),
        );
        check_gehrd(n, &random.matrix::<T>(n * n), &what);
        for uplo in [b'L', b'U'] {
            check_sytrd(n, &random.hermitian::<T>(n), uplo, &what);
        }
    }
}

fn every_kind<T: Number>() {
    for (name, x) in kinds::<T>(ORDER, ORDER, false) {
        check_geqp3((ORDER, ORDER), &x, name);
        check_gehrd(ORDER, &x, name);
    }
    for (name, x) in kinds::<T>(ORDER, ORDER, true) {
        check_sytrd(ORDER, &x, b'L', name);
        check_sytrd(ORDER, &x, b'U', name);
    }
}

/// Products with `Q` from both sides, against the same reflectors one by one.
fn ormqr<T: Number>() {
    let mut random = Random(93);
    for n in SIZES {
        let k = n / 2;
        let call = Call::new().arg(&dims(&[], &[n, k]), &random.matrix::<T>(n * k));
        let call = call.ret_aliasing(0).ret::<T>(&[k as i64]);
        let factored = done::<T>(call, "geqrf", "geqrf");
        let (packed, tau) = (factored.ret::<T>(0), factored.ret::<T>(1));
        let reflectors = Mat::new(n, k, packed);
        for (left, transpose) in [(true, true), (true, false), (false, true), (false, false)] {
            let (rows, cols) = if left { (n, 3) } else { (3, n) };
            let c = random.matrix::<T>(rows * cols);
            let call = Call::new()
                .arg(&dims(&[], &[n, k]), packed)
                .arg(&[k as i64], tau)
                .arg(&dims(&[], &[rows, cols]), &c)
                .ret_aliasing(2)
                .attr("left", left)
                .attr("transpose", transpose);
            let frame = done::<T>(call, "ormqr", "unmqr");
            let (found, c) = (
                Mat::new::<T>(rows, cols, frame.ret(0)),
                Mat::new(rows, cols, &c),
            );
            let expected = if left {
                reflected(&reflectors, tau, 0, transpose, &c)
            } else {
                reflected(&reflectors, tau, 0, !transpose, &c.adjoint()).adjoint()
            };
            let what = format!("ormqr {n}, {left}, {transpose}");
            assert_equal::<T>(&found, &expected, n, c.norm1(), &what);
        }
    }
}

for_every_dtype!(every_size every_kind ormqr);
