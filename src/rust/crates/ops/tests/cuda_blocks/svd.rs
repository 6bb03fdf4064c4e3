//! Singular values of matrices that are too large for cuSOLVER's batches.

use super::common::{
    ascending, assert_small, count, dims, for_every_dtype, is_nan, orthogonality, ratio, same,
    start, Mat, Number, Random,
};
use super::one_launch;

/// `U`, `s`, `V` (or its adjoint) and `info`.
type Parts<T> = (Vec<T>, Vec<<T as Number>::Real>, Vec<T>, Vec<i32>);

/// By jaxlib's target, whose last result is `V`.
fn gesvdj<T: Number>(
    batch: &[i64],
    (m, n): (usize, usize),
    (vectors, full): (bool, bool),
    a: &[T],
) -> Parts<T> {
    let k = m.min(n);
    let (columns, rows) = if full { (m, n) } else { (k, k) };
    let call = start().arg(&dims(batch, &[m, n]), a).ret_aliasing(0);
    let call = call
        .ret::<T::Real>(&dims(batch, &[k]))
        .ret::<T>(&dims(batch, &[m, columns]))
        .ret::<T>(&dims(batch, &[n, rows]))
        .ret::<i32>(batch)
        .attr("compute_uv", vectors)
        .attr("full_matrices", full);
    let frame = one_launch(call, "cusolver_gesvdj_ffi");
    (
        frame.ret::<T>(2).to_vec(),
        frame.ret::<T::Real>(1).to_vec(),
        frame.ret::<T>(3).to_vec(),
        frame.ret::<i32>(4).to_vec(),
    )
}

/// By the op, whose last result is `Vᴴ`; thin.
fn svd<T: Number>(
    batch: &[i64],
    (m, n): (usize, usize),
    a: &[T],
) -> (Vec<T>, Vec<T::Real>, Vec<T>) {
    let k = m.min(n);
    let call = start()
        .arg(&dims(batch, &[m, n]), a)
        .ret::<T>(&dims(batch, &[m, k]))
        .ret::<T::Real>(&dims(batch, &[k]))
        .ret::<T>(&dims(batch, &[k, n]));
    let frame = one_launch(call, "svd");
    assert!(same(frame.arg::<T>(0), a), "the input was written");
    (
        frame.ret::<T>(0).to_vec(),
        frame.ret::<T::Real>(1).to_vec(),
        frame.ret::<T>(2).to_vec(),
    )
}

fn check_svd<T: Number>(a: &Mat, u: &[T], s: &[T::Real], v: &Mat, what: &str) {
    let k = a.m.min(a.n);
    let u = Mat::new(a.m, u.len() / a.m, u);
    assert_small(orthogonality::<T>(&u), &format!("{what}: U"));
    assert_small(orthogonality::<T>(v), &format!("{what}: V"));
    let product = u.columns(k).scaled(s).times(&v.columns(k).adjoint());
    assert_small(
        ratio::<T>(&a.plus(&product, -1.0), a.m.max(a.n), a.norm1()),
        what,
    );
    let upwards: Vec<T::Real> = s.iter().rev().copied().collect();
    assert!(
        ascending(&upwards) && upwards[0].c().re >= 0.0,
        "{what}: order"
    );
}

/// From the first size that cuSOLVER does not take for a batch on, with all that is computed in shared
/// memory, a part of it, and none.
fn singular_values<T: Number>() {
    let mut random = Random(52);
    for (m, n) in [
        (33, 33),
        (40, 20),
        (20, 40),
        (64, 64),
        (65, 3),
        (3, 65),
        (1, 33),
        (33, 1),
    ] {
        let (size, k) = (m * n, m.min(n));
        let mut a = random.matrix::<T>(3 * size);
        a[size + k / 2] = T::of(f64::NEG_INFINITY.into());
        let (thin_u, values, vt) = svd(&[3], (m, n), &a);
        for i in [0, 2] {
            // The same with other neighbours, in another place.
            let pair = a[i * size..][..size].repeat(2);
            let (other_u, other_s, _) = svd(&[2], (m, n), &pair);
            assert!(other_u[m * k..] == thin_u[i * m * k..][..m * k]);
            assert!(other_s[k..] == values[i * k..][..k]);
        }
        for full in [false, true] {
            let (columns, rows) = if full { (m, n) } else { (k, k) };
            let (u, s, v, info) = gesvdj(&[3, 1], (m, n), (true, full), &a);
            let only = gesvdj(&[3], (m, n), (false, full), &a);
            assert!(same(&s, &values) && same(&s, &only.1));
            assert_eq!((&info, &only.3), (&vec![0, 1, 0], &info));
            for i in 0..3 {
                let what = format!("matrix {i} of {m} x {n}, full: {full}");
                let (u, v) = (
                    &u[i * m * columns..][..m * columns],
                    &v[i * n * rows..][..n * rows],
                );
                let s = &s[i * k..][..k];
                let thin = (&thin_u[i * m * k..][..m * k], &vt[i * k * n..][..k * n]);
                if i == 1 {
                    let all = [u, v, thin.0, thin.1].concat();
                    assert!(all.iter().all(is_nan) && s.iter().all(is_nan), "{what}");
                    continue;
                }
                let (one, v) = (Mat::new(m, n, &a[i * size..][..size]), Mat::new(n, rows, v));
                check_svd(&one, u, s, &v, &what);
                // What is thin is the same, and Vᴴ is V's adjoint.
                assert!(u[..m * k] == *thin.0, "{what}");
                assert!(v.columns(k).adjoint() == Mat::new(k, n, thin.1), "{what}");
            }
        }
    }
}

/// cuSOLVER's routine for a batch has no thin form.
fn small_and_thin<T: Number>() {
    for (m, n) in [(1, 1), (2, 2), (4, 6), (5, 2), (32, 31)] {
        let (k, a) = (m.min(n), Random(55).matrix::<T>(2 * m * n));
        let (u, s, v, info) = gesvdj(&[2], (m, n), (true, false), &a);
        assert_eq!(info, [0, 0]);
        for (i, one) in a.chunks(m * n).enumerate() {
            let (one, v) = (
                Mat::new(m, n, one),
                Mat::new(n, k, &v[i * n * k..][..n * k]),
            );
            let (u, s) = (&u[i * m * k..][..m * k], &s[i * k..][..k]);
            check_svd(&one, u, s, &v, &format!("matrix {i} of {m} x {n}"));
        }
    }
}

/// Ranks, gaps and grades of all kinds; as good at any scale.
fn special_matrices<T: Number>() {
    type Element = fn(usize, usize) -> f64;
    let kinds: [(&str, usize, Element); 9] = [
        ("zero", 0, |_, _| 0.0),
        ("identity", 40, |i, j| f64::from(u8::from(i == j))),
        ("rank one", 1, |i, j| (i + 1) as f64 * (j + 2) as f64),
        ("rank two", 2, |i, j| (i + 3 * j) as f64),
        ("a column", 1, |_, j| f64::from(u8::from(j == 20))),
        ("graded columns", 40, |i, j| {
            ((i * i + 3 * i * j) as f64).sin() * 10_f64.powi(-(j as i32))
        }),
        ("graded rows", 40, |i, j| {
            ((i * j + 5 * i + 1) as f64).sin() * 10_f64.powi(i as i32 - 40)
        }),
        ("Hilbert", 40, |i, j| 1.0 / (i + j + 1) as f64),
        ("near the identity", 40, |i, j| {
            f64::from(u8::from(i == j)) + 1e-9 * ((i * 7 + j) as f64).sin()
        }),
    ];
    for (name, rank, element) in kinds {
        for (m, n) in [(34, 34), (40, 36), (36, 40)] {
            let one = Mat::make(m, n, |i, j| element(i, j).into()).to::<T>();
            let one = Mat::new(m, n, &one);
            let twice = one.to::<T>().repeat(2);
            let (u, s, v, info) = gesvdj(&[2], (m, n), (true, true), &twice);
            let (k, what) = (m.min(n), format!("{name}, {m} x {n}"));
            assert_eq!(info, [0, 0], "{what}");
            let v = Mat::new(n, n, &v[n * n..]);
            check_svd(&one, &u[m * m..], &s[k..], &v, &what);
            let small = |s: &&T::Real| s.c().re <= 100.0 * T::EPS * s.c().re.max(one.norm1());
            assert!(s[k + rank.min(k)..].iter().all(|s| small(&s)), "{what}");

            // Powers of two change nothing but the singular values.
            let power = if T::EPS > 1e-10 {
                2_f64.powi(60)
            } else {
                2_f64.powi(900)
            };
            for factor in [power, 1.0 / power] {
                let scaled: Vec<T> = twice.iter().map(|a| T::of(a.c() * factor)).collect();
                // Unless elements are out of range.
                let back = scaled.iter().map(|a| a.c() * (1.0 / factor));
                if back.zip(&twice).any(|(back, a)| back != a.c()) {
                    continue;
                }
                let (other_u, other_s, _, _) = gesvdj(&[2], (m, n), (true, true), &scaled);
                assert!(other_u == u, "{what} by {factor}");
                let mut pairs = other_s.iter().zip(&s);
                let close = |(a, b): (&T::Real, &T::Real)| *a == <T::Real>::of(b.c() * factor);
                assert!(pairs.all(close), "{what} by {factor}");
            }
        }
    }
}

for_every_dtype!(singular_values small_and_thin special_matrices);

/// More than there are blocks.
#[test]
fn blocks_go_on_to_the_matrices_beyond_them() {
    let (batch, m) = ([3, 700], 33);
    let a = Random(53).matrix::<f64>(count(&batch) * m);
    let (u, s, vt) = svd(&batch, (m, 1), &a);
    for i in 0..count(&batch) {
        let one = Mat::new(m, 1, &a[i * m..][..m]);
        let v = Mat::new(1, 1, &vt[i..=i]);
        check_svd(
            &one,
            &u[i * m..][..m],
            &s[i..=i],
            &v,
            &format!("matrix {i}"),
        );
    }
}
