//! jaxlib's `geev` and `gees`: `A V = V diag(w)`, `uᴴ A = w uᴴ` and `A = Z T Zᴴ` up to rounding.

use crate::common::{
    abs, assert_small, count, dims, for_every_dtype, is_nan, orthogonality, ratio, run, same, Mat,
    Number, Random, C,
};
use xla_ffi::testing::{Call, Frame};

const SIZES: [usize; 8] = [1, 2, 3, 5, 17, 33, 65, 100];

fn target<T: Number>(routine: &str) -> String {
    format!("lapack_{}{routine}_ffi", T::LETTER)
}

fn letter(wanted: bool) -> u8 {
    if wanted {
        b'V'
    } else {
        b'N'
    }
}

/// Eigenvalues and what else a call gives, all in complex double precision.
struct Eigen {
    values: Vec<C>,
    /// Left and right eigenvectors, or `T` and `Z`.
    matrices: [Vec<C>; 2],
    info: Vec<i32>,
}

fn wide<T: Number>(data: &[T]) -> Vec<C> {
    data.iter().map(|v| v.c()).collect()
}

/// The eigenvalues in result `at`, or their parts there and in the next one; and the number of
/// results that they are.
fn values<T: Number>(frame: &Frame, at: usize) -> (Vec<C>, usize) {
    if T::COMPLEX {
        return (wide(frame.ret::<T>(at)), 1);
    }
    let parts = frame.ret::<T>(at).iter().zip(frame.ret::<T>(at + 1));
    (
        parts.map(|(re, im)| C::new(re.c().re, im.c().re)).collect(),
        2,
    )
}

pub(crate) fn geev_call<T: Number>(
    batch: &[i64],
    n: usize,
    x: &[T],
    [left, right]: [u8; 2],
) -> Call {
    let mut call = Call::new().arg(&dims(batch, &[n, n]), x);
    for _ in 0..if T::COMPLEX { 1 } else { 2 } {
        call = call.ret::<T>(&dims(batch, &[n]));
    }
    call.ret::<T::Complex>(&dims(batch, &[n, n]))
        .ret::<T::Complex>(&dims(batch, &[n, n]))
        .ret::<i32>(batch)
        .attr("compute_left", left)
        .attr("compute_right", right)
}

fn geev_of<T: Number>(call: Call) -> Eigen {
    let frame = run(call.build(), &target::<T>("geev"));
    let (values, used) = values::<T>(&frame, 0);
    Eigen {
        values,
        matrices: [used, used + 1].map(|at| wide(frame.ret::<T::Complex>(at))),
        info: frame.ret::<i32>(used + 2).to_vec(),
    }
}

fn geev_both<T: Number>(batch: &[i64], n: usize, x: &[T]) -> Eigen {
    geev_of::<T>(geev_call(batch, n, x, *b"VV"))
}

pub(crate) fn gees_call<T: Number>(
    batch: &[i64],
    n: usize,
    x: &[T],
    [mode, sort]: [u8; 2],
) -> Call {
    let mut call = Call::new()
        .arg(&dims(batch, &[n, n]), x)
        .ret_aliasing(0)
        .ret::<T>(&dims(batch, &[n, n]));
    for _ in 0..if T::COMPLEX { 1 } else { 2 } {
        call = call.ret::<T>(&dims(batch, &[n]));
    }
    call.ret::<i32>(batch)
        .ret::<i32>(batch)
        .attr("mode", mode)
        .attr("sort", sort)
}

fn gees_of<T: Number>(call: Call) -> Eigen {
    let frame = run(call.build(), &target::<T>("gees"));
    let (values, used) = values::<T>(&frame, 2);
    assert!(frame
        .ret::<i32>(2 + used)
        .iter()
        .all(|&selected| selected == 0));
    Eigen {
        values,
        matrices: [0, 1].map(|at| wide(frame.ret::<T>(at))),
        info: frame.ret::<i32>(3 + used).to_vec(),
    }
}

/// The ratios of LAPACK's dget22: residual, and how far the columns are from length 1.
#[track_caller]
fn check_vectors<T: Number>(a: &Mat, values: &[C], vectors: &Mat, what: &str) {
    let residual = a.times(vectors).plus(&vectors.scaled(values), -1.0);
    let size = a.norm1() * vectors.norm1();
    assert_small(ratio::<T>(&residual, a.n, size), what);
    for column in vectors.data.chunks(a.n) {
        let length = column.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        assert_small((length - 1.0).abs() / (a.n as f64 * T::EPS), what);
    }
}

#[track_caller]
fn check_geev<T: Number>(n: usize, x: &[T], what: &str) {
    let (found, a) = (geev_both(&[], n, x), Mat::new(n, n, x));
    assert_eq!(found.info, [0], "{what}");
    let [left, right] = &found.matrices;
    let conjugate: Vec<C> = found.values.iter().map(|w| w.conj()).collect();
    check_vectors::<T>(&a, &found.values, &Mat::new(n, n, right), what);
    check_vectors::<T>(&a.adjoint(), &conjugate, &Mat::new(n, n, left), what);
    if !T::COMPLEX {
        let pairs: Vec<&C> = found.values.iter().filter(|w| w.im != 0.0).collect();
        for pair in pairs.chunks(2) {
            assert!(pair[0].im > 0.0 && *pair[1] == pair[0].conj(), "{what}");
        }
    }
}

#[track_caller]
fn check_gees<T: Number>(n: usize, x: &[T], what: &str) {
    let (found, a) = (
        gees_of::<T>(gees_call(&[], n, x, *b"VN")),
        Mat::new(n, n, x),
    );
    assert_eq!(found.info, [0], "{what}");
    let [t, z] = found.matrices.map(|data| Mat::new(n, n, &data));
    let residual = a.plus(&z.times(&t).times(&z.adjoint()), -1.0);
    assert_small(ratio::<T>(&residual, n, a.norm1()), what);
    assert_small(orthogonality::<T>(&z), what);
    for (j, w) in found.values.iter().enumerate() {
        assert!(w.re == t.at(j, j).re, "{what}");
        assert!((j + 2..n).all(|i| t.at(i, j) == C::default()), "{what}");
        // A block of two rows for each conjugate pair, and only there.
        let below = j + 1 < n && t.at(j + 1, j) != C::default();
        assert_eq!(below, !T::COMPLEX && w.im > 0.0, "{what}");
    }
}

fn every_size<T: Number>() {
    let mut random = Random(71);
    for n in SIZES {
        let x = random.matrix::<T>(n * n);
        check_geev(n, &x, &format!("geev, {n}"));
        check_gees(n, &x, &format!("gees, {n}"));
    }
}

/// What is not asked for is not written, and the rest does not depend on it.
fn without_vectors<T: Number>() {
    let mut random = Random(72);
    for n in [1, 2, 5, 33] {
        let (x, real) = (random.matrix::<T>(n * n), usize::from(!T::COMPLEX));
        let all = geev_both(&[], n, &x);
        for (left, right) in [(true, false), (false, true), (false, false)] {
            let job = [letter(left), letter(right)];
            let call = geev_call(&[], n, &x, job);
            let untouched = {
                let frame = geev_call::<T>(&[], n, &x, job).build();
                wide(frame.ret::<T::Complex>(1 + real))
            };
            let some = geev_of::<T>(call);
            for (wanted, at) in [(left, 0), (right, 1)] {
                let expected = if wanted {
                    &all.matrices[at]
                } else {
                    &untouched
                };
                assert!(same(&some.matrices[at], expected));
            }
            // Without vectors the QR iteration takes other steps.
            let scale = Mat::new(n, n, &x).norm1() * n as f64 * 100.0 * T::EPS;
            for w in &some.values {
                let nearest = all
                    .values
                    .iter()
                    .map(|v| abs(v - w))
                    .fold(f64::MAX, f64::min);
                assert!(nearest < scale, "{n}: {w}");
            }
        }
        let schur = gees_of::<T>(gees_call(&[], n, &x, *b"VN"));
        let only = gees_of::<T>(gees_call(&[], n, &x, *b"NN"));
        assert_eq!(only.info, [0]);
        let untouched = gees_call::<T>(&[], n, &x, *b"NN").build();
        assert!(same(&only.matrices[1], &wide(untouched.ret::<T>(1))));
        assert_eq!(only.values.len(), schur.values.len());
    }
}

fn special_matrices<T: Number>() {
    let n = 20;
    type Element = fn(usize, usize) -> f64;
    let kinds: [(&str, Element); 9] = [
        ("zero", |_, _| 0.0),
        ("identity", |i, j| f64::from(u8::from(i == j))),
        ("Jordan block", |i, j| {
            f64::from(u8::from(i == j || i + 1 == j))
        }),
        ("cyclic shift", |i, j| {
            f64::from(u8::from(i == (j + 1) % 20))
        }),
        ("rank one", |i, j| (i + 1) as f64 * (j + 2) as f64),
        ("Hilbert", |i, j| 1.0 / (i + j + 1) as f64),
        ("skew", |i, j| i as f64 - j as f64),
        ("tiny", |i, j| 1e-30 * (i * i + 7 * j + 1) as f64),
        ("huge", |i, j| 1e30 * ((i * i + 7 * j) % 11) as f64),
    ];
    for (name, element) in kinds {
        let x = Mat::make(n, n, |i, j| element(i, j).into()).to::<T>();
        check_geev(n, &x, name);
        check_gees(n, &x, name);
    }
}

fn batches_threads_and_nan<T: Number>() {
    let mut random = Random(73);
    for (batch, n) in [(&[4_i64][..], 5), (&[2, 3], 4), (&[60], 3), (&[3], 20)] {
        let mut x = random.matrix::<T>(count(batch) * n * n);
        x[n * n + 1] = T::of(f64::NAN.into());
        x[3 * n * n - 1] = T::of(f64::INFINITY.into());
        type Routine<T> = fn(&[i64], usize, &[T]) -> Call;
        type Run = fn(Call) -> Eigen;
        let routines: [(Routine<T>, Run); 2] = [
            (|batch, n, x| geev_call(batch, n, x, *b"VV"), geev_of::<T>),
            (|batch, n, x| gees_call(batch, n, x, *b"VN"), gees_of::<T>),
        ];
        for (call, run) in routines {
            let all = run(call(batch, n, &x));
            for (i, one) in x.chunks(n * n).enumerate() {
                let values = &all.values[i * n..][..n];
                let matrices = [0, 1].map(|at| &all.matrices[at][i * n * n..][..n * n]);
                if i == 1 || i == 2 {
                    assert!(all.info[i] != 0 && values.iter().all(is_nan));
                    assert!(matrices.iter().all(|m| m.iter().all(is_nan)));
                    continue;
                }
                let alone = run(call(&[], n, one));
                assert!(all.info[i] == 0 && alone.values == values);
                assert!(alone.matrices == matrices);
            }
            for threads in [1, 2, 5, 8] {
                let again = run(call(batch, n, &x).threads(threads));
                assert!(same(&again.values, &all.values) && again.info == all.info);
                assert!((0..2).all(|at| same(&again.matrices[at], &all.matrices[at])));
            }
        }
    }
}

for_every_dtype!(every_size without_vectors special_matrices batches_threads_and_nan);

#[test]
fn eigenvalues_by_hand() {
    // A rotation by a right angle, doubled; columns (1, ∓i) / √2.
    let found = geev_both::<f64>(&[], 2, &[0.0, 2.0, -2.0, 0.0]);
    assert!(abs(found.values[0] - C::new(0.0, 2.0)) < 2e-15);
    assert!(found.values[1] == found.values[0].conj());
    let right = &found.matrices[1];
    assert!(abs(right[1] / right[0] - C::new(0.0, -1.0)) < 1e-15);
    assert!(abs(right[3] / right[2] - C::new(0.0, 1.0)) < 1e-15);
}

#[test]
fn zero_sized_operands_succeed() {
    for (batch, n) in [(&[][..], 0), (&[0], 3), (&[2], 0)] {
        for wanted in [true, false] {
            let found = geev_of::<f64>(geev_call::<f64>(batch, n, &[], [letter(wanted); 2]));
            assert!(found.info == vec![0; count(batch)]);
            let found = geev_of::<C>(geev_call::<C>(batch, n, &[], [letter(wanted); 2]));
            assert!(found.info == vec![0; count(batch)]);
            assert!(
                gees_of::<f64>(gees_call::<f64>(batch, n, &[], [letter(wanted), b'N']))
                    .values
                    .is_empty()
            );
            assert!(
                gees_of::<C>(gees_call::<C>(batch, n, &[], [letter(wanted), b'N']))
                    .values
                    .is_empty()
            );
        }
    }
}
