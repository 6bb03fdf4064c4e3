//! A matrix's result does not depend on its batch.

use super::*;
use crate::common::{for_every_dtype, is_nan, same, Number, Random, C};

const ROUTINES: [Routine; 9] = [
    Getrf,
    Geqrf,
    Orgqr,
    Potrf(b'L'),
    Potrf(b'U'),
    Trsm(*b"LLNN"),
    Trsm(*b"LUCU"),
    Trsm(*b"RLTN"),
    Trsm(*b"RUNN"),
];

/// Operands that suit every routine: the diagonal is large.
fn operands<T: Number>(routine: Routine, count: usize, shape: (usize, usize)) -> (Vec<T>, Vec<T>) {
    let (m, n) = shape;
    let mut random = Random(71);
    let mut x = random.matrix::<T>(count * m * n);
    if matches!(routine, Potrf(_) | Trsm(_)) {
        for matrix in x.chunks_mut(m * n) {
            for i in 0..n {
                matrix[i * (m + 1)] = T::of((2 * n) as f64 * C::new(1.0, 0.0));
            }
        }
    }
    let y = match routine {
        Orgqr => {
            let mut tau = Vec::new();
            for one in x.chunks_mut(m * n) {
                let factors = results(Geqrf, shape, one, &[]);
                one.copy_from_slice(&factors.a);
                tau.extend(factors.tau);
            }
            tau
        }
        Trsm(_) => random.matrix::<T>(count * m * n),
        _ => Vec::new(),
    };
    (x, y)
}

/// Those of one matrix in those of a batch.
fn of_one<T: Number>(all: &Results<T>, at: usize, count: usize) -> Results<T> {
    fn part<V: Clone>(all: &[V], at: usize, count: usize) -> Vec<V> {
        let len = all.len() / count;
        all[at * len..(at + 1) * len].to_vec()
    }
    Results {
        a: part(&all.a, at, count),
        tau: part(&all.tau, at, count),
        pivots: part(&all.pivots, at, count),
        info: part(&all.info, at, count),
    }
}

/// Reference LAPACK's larger results depend on where the matrices lie in memory, as its compiler sums up from aligned
/// numbers on; own kernels' do not.
fn is_ours<T: Number>(routine: Routine, n: usize) -> bool {
    let most = match routine {
        _ if T::COMPLEX => 99,
        Getrf | Potrf(_) | Geqrf | Orgqr => 2048,
        Trsm(_) => 99,
    };
    n <= most
}

fn shapes_of(routine: Routine, n: usize) -> Vec<(usize, usize)> {
    match routine {
        Potrf(_) | Trsm(_) => vec![(n, n)],
        Orgqr => vec![(n, n), (n + 3, n)],
        _ => vec![(n, n), (n + 3, n), (n, n + 3)],
    }
}

fn a_batch_is_its_matrices_one_by_one<T: Number>() {
    // Two full blocks of the widest vectors, and a part of one.
    for (n, count) in [
        (1, 37),
        (3, 37),
        (4, 37),
        (7, 21),
        (17, 21),
        (33, 6),
        (64, 4),
        (65, 3),
        (100, 3),
        (200, 2),
        (300, 2),
    ] {
        for routine in ROUTINES.into_iter().filter(|one| is_ours::<T>(*one, n)) {
            for shape in shapes_of(routine, n) {
                let (x, y) = operands::<T>(routine, count, shape);
                let batch = Batch {
                    routine,
                    shape,
                    x: &x,
                    y: &y,
                };
                let all = batch.results(false, 1);
                assert!(
                    all == batch.results(true, 1),
                    "{routine:?} {shape:?} in place"
                );
                for at in 0..count {
                    let alone = batch.part(at..at + 1).results(false, 1);
                    let what = format!("{routine:?} {shape:?}, {at} of {count}");
                    assert!(alone == of_one(&all, at, count), "{what}");
                }
            }
        }
    }
}

fn every_length_of_batch<T: Number>() {
    let (shape, most) = ((4, 4), 35);
    for routine in [Getrf, Geqrf, Orgqr, Potrf(b'L'), Trsm(*b"LLNN")] {
        let (x, y) = operands::<T>(routine, most, shape);
        let whole = Batch {
            routine,
            shape,
            x: &x,
            y: &y,
        };
        let all = whole.results(false, 1);
        for count in 1..most {
            let some = whole.part(0..count).results(count % 2 == 0, 1);
            for at in 0..count {
                let same = of_one(&some, at, count) == of_one(&all, at, most);
                assert!(same, "{routine:?}, {at} of {count}");
            }
        }
    }
}

fn threads_change_nothing<T: Number>() {
    for (count, n) in [(3000, 4), (300, 16), (24, 33), (5, 65), (4, 130), (1, 300)] {
        let routines = [Getrf, Geqrf, Orgqr, Potrf(b'L'), Trsm(*b"LLNN")];
        for routine in routines.into_iter().filter(|one| is_ours::<T>(*one, n)) {
            let shape = (n, n);
            let (x, y) = operands::<T>(routine, count, shape);
            let batch = Batch {
                routine,
                shape,
                x: &x,
                y: &y,
            };
            let alone = batch.results(false, 1);
            let most = if count == 300 { 8 } else { 2 };
            for threads in 2..=most {
                let more = batch.results(threads % 2 == 0, threads);
                assert!(
                    more == alone,
                    "{routine:?}, {count} x {n}, {threads} threads"
                );
            }
        }
    }
}

fn what_is_not_finite_stays_alone<T: Number>() {
    let (shape, count) = ((5, 5), 19);
    for routine in [Getrf, Geqrf, Orgqr, Potrf(b'L'), Potrf(b'U')] {
        let (x, y) = operands::<T>(routine, count, shape);
        let good = results(routine, shape, &x, &y);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 7, 15, 18] {
                let mut x = x.clone();
                x[at * 25 + 12] = T::of(bad.into());
                let got = results(routine, shape, &x, &y);
                for i in (0..count).filter(|&i| i != at) {
                    assert!(
                        of_one(&got, i, count) == of_one(&good, i, count),
                        "{routine:?}"
                    );
                }
                let one = of_one(&got, at, count);
                assert!(one.a.iter().chain(&one.tau).all(is_nan), "{routine:?}");
                assert!(one.pivots.iter().zip(1..).all(|(&p, i)| p == i));
            }
        }
    }
}

/// NaN in the triangle that is not read.
fn the_other_triangle_is_left_alone<T: Number>() {
    for n in [3, 16, 40, 66] {
        let (mut x, _) = operands::<T>(Potrf(b'L'), 5, (n, n));
        for (uplo, above) in [(b'L', true), (b'U', false)] {
            for (at, value) in x.iter_mut().enumerate() {
                let (i, j) = (at % (n * n) % n, at % (n * n) / n);
                if i != j {
                    let outside = (i < j) == above;
                    *value = T::of(if outside { f64::NAN } else { 0.5 }.into());
                }
            }
            let got = results(Potrf(uplo), (n, n), &x, &[]);
            assert!(got.info.iter().all(|&info| info == 0), "{n}");
            for (at, (got, x)) in got.a.iter().zip(&x).enumerate() {
                let (i, j) = (at % (n * n) % n, at % (n * n) / n);
                assert!(is_nan(got) == is_nan(x), "({i}, {j}) of {n}");
            }
            let side = Random(72).matrix::<T>(5 * n * n);
            let solved = results(Trsm([b'L', uplo, b'N', b'N']), (n, n), &x, &side);
            assert!(!solved.a.iter().any(is_nan));
        }
    }
}

for_every_dtype!(
    a_batch_is_its_matrices_one_by_one every_length_of_batch threads_change_nothing
    what_is_not_finite_stays_alone the_other_triangle_is_left_alone
);

/// What a matrix that is not positive definite gives: its first columns, and NaN.
#[test]
fn cholesky_goes_as_far_as_it_can() {
    let x = [4.0, 2.0, 2.0, 2.0, 1.0, 5.0, 2.0, 5.0, 9.0_f64];
    let got = results(Potrf(b'L'), (3, 3), &x, &[]);
    assert_eq!(got.info, [2]);
    // A processor that there are no own kernels for, where LAPACK leaves what it leaves.
    #[cfg(target_arch = "x86_64")]
    if !is_x86_feature_detected!("avx2") {
        assert_eq!(
            (got.a[0], &got.a[3..4], &got.a[6..8]),
            (2.0, &x[3..4], &x[6..8])
        );
        return;
    }
    let nan = f64::NAN;
    let expected = [2.0, 1.0, 1.0, 2.0, nan, nan, 2.0, 5.0, nan];
    assert!(same(&got.a, &expected), "{:?}", got.a);
}
