//! Eigenvalues of Hermitian matrices that are too large for the kernels of small ones.

use super::common::{
    ascending, assert_small, dims, for_every_dtype, is_nan, orthogonality, ratio, same, start, Mat,
    Number, Random, C,
};
use super::one_launch;

/// `V`, `w`, `info`: by jaxlib's target, in place.
fn syevd<T: Number>(
    batch: &[i64],
    n: usize,
    lower: bool,
    a: &[T],
) -> (Vec<T>, Vec<T::Real>, Vec<i32>) {
    let call = start().arg(&dims(batch, &[n, n]), a).ret_aliasing(0);
    let call = call.ret::<T::Real>(&dims(batch, &[n])).ret::<i32>(batch);
    let call = call.attr("lower", lower).attr("algorithm", 0_u8);
    let frame = one_launch(call, "cusolver_syevd_ffi");
    (
        frame.ret::<T>(0).to_vec(),
        frame.ret::<T::Real>(1).to_vec(),
        frame.ret::<i32>(2).to_vec(),
    )
}

/// By the op, in other memory than the operand's.
fn eigh<T: Number>(batch: &[i64], n: usize, lower: bool, a: &[T]) -> (Vec<T>, Vec<T::Real>) {
    let call = start().arg(&dims(batch, &[n, n]), a);
    let call = call
        .ret::<T>(&dims(batch, &[n, n]))
        .ret::<T::Real>(&dims(batch, &[n]))
        .attr("uplo", if lower { "L" } else { "U" });
    let frame = one_launch(call, "eigh");
    assert!(same(frame.arg::<T>(0), a), "the input was written");
    (frame.ret::<T>(0).to_vec(), frame.ret::<T::Real>(1).to_vec())
}

fn check<T: Number>(a: &Mat, v: &[T], w: &[T::Real], what: &str) {
    let v = Mat::new(a.n, a.n, v);
    assert!(ascending(w), "{what}: order");
    assert_small(orthogonality::<T>(&v), &format!("{what}: V"));
    let residual = a.times(&v).plus(&v.scaled(w), -1.0);
    assert_small(ratio::<T>(&residual, a.n, a.norm1()), what);
}

/// What is not to be read becomes NaN.
fn half<T: Number>(a: &Mat, lower: bool) -> Vec<T> {
    let nan = C::new(f64::NAN, f64::NAN);
    let element = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal if T::COMPLEX => C::new(a.at(i, j).re, 7.0),
        std::cmp::Ordering::Equal => a.at(i, j),
        order if (order == std::cmp::Ordering::Greater) == lower => a.at(i, j),
        _ => nan,
    };
    Mat::make(a.n, a.n, element).to()
}

fn eigenvalues<T: Number>(sizes: &[usize]) {
    let mut random = Random(61);
    for &n in sizes {
        for lower in [true, false] {
            let size = n * n;
            let all: Vec<Mat> = (0..3)
                .map(|_| Mat::new(n, n, &random.hermitian::<T>(n)))
                .collect();
            let mut a: Vec<T> = all.iter().flat_map(|a| half::<T>(a, lower)).collect();
            let (row, column) = if lower { (n - 1, 2) } else { (2, n - 1) };
            a[size + row + column * n] = T::of(f64::INFINITY.into());
            let (v, w, info) = syevd(&[3], n, lower, &a);
            assert_eq!(info, [0, 1, 0], "{n}");
            for i in [0, 2] {
                let what = format!("matrix {i} of {n} rows, lower: {lower}");
                check(&all[i], &v[i * size..][..size], &w[i * n..][..n], &what);
            }
            let mut broken = v[size..2 * size].iter();
            assert!(broken.all(is_nan) && w[n..2 * n].iter().all(is_nan));
            // The same out of place, with other neighbours.
            let pair = [&a[2 * size..], &a[..size]].concat();
            let (other_v, other_w) = eigh(&[2, 1], n, lower, &pair);
            assert!(other_v[..size] == v[2 * size..] && other_v[size..] == v[..size]);
            assert!(other_w[..n] == w[2 * n..] && other_w[n..] == w[..n]);
        }
    }
}

/// Of all orders that there are kernels for.
fn random_matrices<T: Number>() {
    eigenvalues::<T>(&[33, 65, 129]);
}

fn large_random_matrices<T: Number>() {
    eigenvalues::<T>(&[40, 64, 100, 128, 200, 256]);
}

/// An element by its row, its column and n.
type Element = fn(usize, usize, usize) -> f64;

fn on_diagonal(i: usize, j: usize, value: f64) -> f64 {
    if i == j {
        value
    } else {
        0.0
    }
}

fn beside_diagonal(i: usize, j: usize, value: f64) -> f64 {
    if i.abs_diff(j) == 1 {
        value
    } else {
        0.0
    }
}

/// An eigenvalue by its number, from the lowest one on, and n.
type Value = fn(usize, usize) -> f64;

/// Each with its eigenvalues where they are known.
const KINDS: [(&str, Element, Option<Value>); 13] = [
    ("zero", |_, _, _| 0.0, Some(|_, _| 0.0)),
    (
        "identity",
        |i, j, _| on_diagonal(i, j, 1.0),
        Some(|_, _| 1.0),
    ),
    (
        "diagonal",
        |i, j, n| on_diagonal(i, j, (i * 7 % n) as f64 - 9.0),
        None,
    ),
    ("rank one", |i, j, _| (i + 1) as f64 * (j + 1) as f64, None),
    (
        "ones",
        |_, _, _| 1.0,
        Some(|i, n| if i + 1 == n { n as f64 } else { 0.0 }),
    ),
    (
        "second difference",
        |i, j, _| on_diagonal(i, j, 2.0) - beside_diagonal(i, j, 1.0),
        Some(|i, n| 2.0 - 2.0 * (std::f64::consts::PI * (i + 1) as f64 / (n + 1) as f64).cos()),
    ),
    (
        "Wilkinson",
        |i, j, n| {
            on_diagonal(i, j, (i as f64 - (n - 1) as f64 / 2.0).abs()) + beside_diagonal(i, j, 1.0)
        },
        None,
    ),
    (
        "glued Wilkinson",
        |i, j, _| {
            let beside = if i.max(j) % 11 == 0 { 1e-6 } else { 1.0 };
            on_diagonal(i, j, ((i % 11) as f64 - 5.0).abs()) + beside_diagonal(i, j, beside)
        },
        None,
    ),
    (
        "graded",
        |i, j, _| ((i * j) as f64 + 0.3).cos() * 10_f64.powi(-((i + j) as i32) / 3),
        None,
    ),
    (
        "near the identity",
        |i, j, _| on_diagonal(i, j, 1.0) + 1e-9 * ((i * j + i + j) as f64).sin(),
        None,
    ),
    (
        "two clusters",
        |i, j, n| on_diagonal(i, j, 1.0) - 2.0 / n as f64,
        Some(|i, _| if i == 0 { -1.0 } else { 1.0 }),
    ),
    (
        "no diagonal",
        |i, j, _| beside_diagonal(i, j, 1.0),
        Some(|i, n| -2.0 * (std::f64::consts::PI * (i + 1) as f64 / (n + 1) as f64).cos()),
    ),
    (
        "blocks",
        |i, j, _| {
            if i / 3 == j / 3 {
                1.0 + on_diagonal(i, j, 2.0)
            } else {
                0.0
            }
        },
        None,
    ),
];

fn special<T: Number>(n: usize) {
    let all: Vec<Mat> = KINDS
        .iter()
        .map(|(_, element, _)| {
            let element = |i, j| element(i, j, n).into();
            Mat::new(n, n, &Mat::make(n, n, element).to::<T>())
        })
        .collect();
    let a: Vec<T> = all.iter().flat_map(Mat::to::<T>).collect();
    let (v, w, info) = syevd(&[all.len() as i64], n, true, &a);
    for (i, (name, _, values)) in KINDS.iter().enumerate() {
        let what = format!("{name}, {n} rows");
        assert_eq!(info[i], 0, "{what}");
        let w = &w[i * n..][..n];
        check(&all[i], &v[i * n * n..][..n * n], w, &what);
        let Some(values) = values else { continue };
        for (number, w) in w.iter().enumerate() {
            let off = (w.c().re - values(number, n)).abs();
            let size = all[i].norm1();
            assert!(
                off <= 10.0 * n as f64 * T::EPS * size,
                "{what}: value {number} is off by {off}"
            );
        }
    }
    // Powers of two change nothing but the eigenvalues.
    let power = if T::EPS > 1e-10 { 100 } else { 900 };
    for factor in [2_f64.powi(power), 2_f64.powi(-power)] {
        let scaled: Vec<T> = a.iter().map(|a| T::of(a.c() * factor)).collect();
        let (other_v, other_w, _) = syevd(&[all.len() as i64], n, true, &scaled);
        for (i, (name, ..)) in KINDS.iter().enumerate() {
            let of = |x: &[T]| x[i * n * n..][..n * n].to_vec();
            // Unless elements are out of range.
            let back = |(s, a): (&T, &T)| s.c() * (1.0 / factor) == a.c();
            if !of(&scaled).iter().zip(&of(&a)).all(back) {
                continue;
            }
            assert!(of(&other_v) == of(&v), "{name} by {factor}");
            let mut pairs = other_w[i * n..][..n].iter().zip(&w[i * n..][..n]);
            let close = |(a, b): (&T::Real, &T::Real)| *a == <T::Real>::of(b.c() * factor);
            assert!(pairs.all(close), "{name} by {factor}");
        }
    }
}

fn special_matrices<T: Number>() {
    special::<T>(44);
}

fn large_special_matrices<T: Number>() {
    special::<T>(130);
}

for_every_dtype!(random_matrices special_matrices large_random_matrices large_special_matrices);
