//! `geev`, `gees` and `gesvd`.

use super::kinds::{kinds, ORDER};
use super::{assert_equal, done, probe, smallest, SIZES};
use crate::common::{dims, for_every_dtype, Mat, Number, Random, C};
use xla_ffi::testing::{Call, Frame};

/// The results that hold eigenvalues, after those in `call`.
fn with_values<T: Number>(call: Call, n: usize) -> Call {
    let parts = if T::COMPLEX { 1 } else { 2 };
    (0..parts).fold(call, |call, _| call.ret::<T>(&[n as i64]))
}

fn values<T: Number>(frame: &Frame, at: usize) -> Vec<C> {
    let first = frame.ret::<T>(at).iter().map(|v| v.c());
    if T::COMPLEX {
        return first.collect();
    }
    let second = frame.ret::<T>(at + 1).iter().map(|v| v.c().re);
    first
        .zip(second)
        .map(|(re, im)| C::new(re.re, im))
        .collect()
}

/// Right eigenvectors: `A V = V diag(w)`, column by column as the rest of the table's kinds allow.
fn check_geev<T: Number>(n: usize, x: &[T], what: &str) {
    let what = format!("geev, {what}");
    let call = with_values::<T>(Call::new().arg(&dims(&[], &[n, n]), x), n)
        .ret::<T::Complex>(&dims(&[], &[n, n]))
        .ret::<T::Complex>(&dims(&[], &[n, n]))
        .ret::<i32>(&[])
        .attr("compute_left", b'N')
        .attr("compute_right", b'V');
    let frame = done::<T>(call, "geev", "geev");
    let last = if T::COMPLEX { 3 } else { 4 };
    assert_eq!(frame.ret::<i32>(last), [0], "{what}");
    let (a, v) = (
        Mat::new(n, n, x),
        Mat::new::<T::Complex>(n, n, frame.ret(last - 1)),
    );
    let (w, p) = (values::<T>(&frame, 0), probe(n));
    let scaled = Mat::make(n, 2, |i, j| w[i] * p.at(i, j));
    let norm = a.norm1() * v.norm1().max(1.0);
    assert_equal::<T>(&a.times(&v.times(&p)), &v.times(&scaled), n, norm, &what);
    // The imaginary parts of a pair may vanish among denormals, and with them the pair.
    let normal = a.norm1() == 0.0 || a.norm1() > 1e3 * smallest::<T>() / T::EPS;
    for column in v.data.chunks(n).filter(|_| normal) {
        let length = column.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        assert!(
            (length - 1.0).abs() < 30.0 * n as f64 * T::EPS,
            "{what}: length {length}"
        );
    }
}

fn check_gees<T: Number>(n: usize, x: &[T], what: &str) {
    let what = format!("gees, {what}");
    let call = Call::new()
        .arg(&dims(&[], &[n, n]), x)
        .ret_aliasing(0)
        .ret::<T>(&dims(&[], &[n, n]));
    let call = with_values::<T>(call, n).ret::<i32>(&[]).ret::<i32>(&[]);
    let frame = done::<T>(call.attr("mode", b'V').attr("sort", b'N'), "gees", "gees");
    let (t, z) = (
        Mat::new::<T>(n, n, frame.ret(0)),
        Mat::new::<T>(n, n, frame.ret(1)),
    );
    let (a, p) = (Mat::new(n, n, x), probe(n));
    let back = z.adjoint();
    let product = z.times(&t.times(&back.times(&p)));
    assert_equal::<T>(&a.times(&p), &product, n, a.norm1(), &what);
    assert_equal::<T>(&back.times(&z.times(&p)), &p, n, 1.0, &what);
    let lower = t
        .data
        .iter()
        .enumerate()
        .filter(|(at, _)| at % n > at / n + 1);
    assert!(lower.into_iter().all(|(_, v)| *v == C::default()), "{what}");
}

fn check_gesvd<T: Number>((m, n): (usize, usize), x: &[T], what: &str) {
    let (k, what) = (m.min(n), format!("gesvd, {what}"));
    let call = Call::new()
        .arg(&dims(&[], &[m, n]), x)
        .ret_aliasing(0)
        .ret::<T::Real>(&[k as i64])
        .ret::<T>(&dims(&[], &[m, k]))
        .ret::<T>(&dims(&[], &[k, n]))
        .ret::<i32>(&[])
        .attr("mode", b'S');
    let frame = done::<T>(call, "gesvd", "gesvd");
    assert_eq!(frame.ret::<i32>(4), [0], "{what}");
    let (s, u) = (frame.ret::<T::Real>(1), Mat::new::<T>(m, k, frame.ret(2)));
    let (vt, a, p) = (
        Mat::new::<T>(k, n, frame.ret(3)),
        Mat::new(m, n, x),
        probe(n),
    );
    let rows = vt.times(&p);
    let scaled = Mat::make(k, 2, |i, j| rows.at(i, j) * s[i].c());
    assert_equal::<T>(&a.times(&p), &u.times(&scaled), m.max(n), a.norm1(), &what);
    let q = probe(k);
    assert_equal::<T>(&u.adjoint().times(&u.times(&q)), &q, m, 1.0, &what);
    assert_equal::<T>(&vt.times(&vt.adjoint().times(&q)), &q, n, 1.0, &what);
}

fn every_size<T: Number>() {
    let mut random = Random(96);
    // The largest take their time: one real and one complex dtype for all.
    let sizes = SIZES
        .into_iter()
        .filter(|&n| n < 300 || ["d", "c"].contains(&T::LETTER));
    for (at, n) in sizes.enumerate() {
        let x = random.matrix::<T>(n * n);
        check_geev(n, &x, &n.to_string());
        check_gees(n, &x, &n.to_string());
        let shape = [(n, n), (n + 3, n), (n / 2, n)][at % 3];
        check_gesvd(
            shape,
            &random.matrix::<T>(shape.0 * shape.1),
            &format!("{shape:?}"),
        );
    }
}

fn every_kind<T: Number>() {
    for (name, x) in kinds::<T>(ORDER, ORDER, false) {
        check_geev(ORDER, &x, name);
        check_gees(ORDER, &x, name);
        check_gesvd((ORDER, ORDER), &x, name);
    }
}

for_every_dtype!(every_size every_kind);
