//! Cholesky factors of complex matrices, in blocks and with their rows in lanes.

use crate::complex::{
    absolute, batch, bits, counts, expect, is_nan, numbers, part, spoilt, Part, Results, C, LARGE,
    SIZES,
};
use crate::{in_both, on, Random, THREADS};
use lanes::cholesky::{Potrf, NOT_FINITE};
use lanes::{Together, Unit};
use matrices::Triangle;

const BOTH: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];

fn run<T: Part>(
    n: usize,
    triangle: Triangle,
    together: Together<'static>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    move |unit, x, count| {
        let (mut a, mut info) = (x.to_vec(), vec![-1; count]);
        let kernel = Potrf {
            n,
            triangle,
            a: &mut a,
            info: &mut info,
            together,
        };
        on(unit, kernel, count);
        (a, info)
    }
}

/// Hermitian and positive definite, with something else in the other triangle and beside the diagonal's real part.
fn positive<T: Part>(random: &mut Random, n: usize, triangle: Triangle) -> Vec<T::Number> {
    let mut a = numbers::<T>(random, n * n);
    for i in 0..n {
        a[i * n + i] = T::number(C::new(2.0 * n as f64, 0.25));
    }
    let unread = match triangle {
        Triangle::Lower => (n - 1) * n,
        Triangle::Upper => n - 1,
    };
    if n > 1 {
        a[unread] = T::number(C::new(f64::NAN, 1.0));
    }
    a
}

/// Where element `(i, j)` of the triangle that is read is, as a lower triangle's.
fn place(n: usize, triangle: Triangle, i: usize, j: usize) -> usize {
    match triangle {
        Triangle::Lower => j * n + i,
        Triangle::Upper => i * n + j,
    }
}

/// That the factor of a triangle, multiplied, is the matrix, and that the other triangle is as it was.
#[track_caller]
fn expect_factor<T: Part>(n: usize, triangle: Triangle, given: &[T::Number], factor: &[C]) {
    let given: Vec<C> = given.iter().map(|&x| T::c(x)).collect();
    // As a lower triangle, of the one that is read.
    let of = |a: &[C], i: usize, j: usize| match triangle {
        Triangle::Lower => a[j * n + i],
        Triangle::Upper => a[i * n + j].conj(),
    };
    let mut product = vec![C::new(0.0, 0.0); n * n];
    for k in 0..n {
        let column: Vec<C> = (k..n).map(|i| of(factor, i, k)).collect();
        for (j, factor) in (k..n).zip(&column) {
            let to = &mut product[j * n + j..][..n - j];
            for (to, l) in to.iter_mut().zip(&column[j - k..]) {
                *to += l * factor.conj();
            }
        }
    }
    let is = |i: usize, j: usize| product[i.min(j) * n + i.max(j)];
    let should = |i: usize, j: usize| {
        let value = of(&given, i.max(j), i.min(j));
        C::new(value.re, if i == j { 0.0 } else { value.im })
    };
    expect::<T>((n, n), is, should, 2.0 * n as f64);
    for j in 0..n {
        let diagonal = factor[j * n + j];
        assert!(diagonal.re > 0.0 && diagonal.im == 0.0, "{diagonal}");
        for i in j + 1..n {
            let other = place(n, triangle, j, i);
            let (was, is) = (bits(&given[other..=other]), bits(&factor[other..=other]));
            assert_eq!(is, was, "the other triangle changed");
        }
    }
}

fn factors<T: Part>() {
    let mut random = Random(12);
    let sizes = SIZES.into_iter().chain(LARGE);
    for (n, triangle) in sizes.flat_map(|n| BOTH.map(|triangle| (n, triangle))) {
        for &count in counts(n) {
            let x: Vec<T::Number> = (0..count)
                .flat_map(|_| positive::<T>(&mut random, n, triangle))
                .collect();
            let (factors, infos) = batch::<T>(&x, count, run::<T>(n, triangle, THREADS));
            assert_eq!(infos, vec![0; count]);
            for at in 0..count {
                expect_factor::<T>(n, triangle, part(&x, at, count), part(&factors, at, count));
            }
        }
    }
}

/// More than is packed at a time; by one thread and by several to the same bits.
fn threads<T: Part>() {
    let n = 330;
    let x = positive::<T>(&mut Random(15), n, Triangle::Lower);
    let (factor, infos) = batch::<T>(&x, 1, run::<T>(n, Triangle::Lower, THREADS));
    assert_eq!(infos, [0]);
    expect_factor::<T>(n, Triangle::Lower, &x, &factor);
    let (alone, _) = run::<T>(n, Triangle::Lower, lanes::ALONE)(Unit::all()[0], &x, 1);
    let alone: Vec<C> = alone.into_iter().map(T::c).collect();
    assert!(bits(&alone) == bits(&factor));
}

/// Columns that are not small beside the diagonal: the product of a triangle with its conjugate transpose is factored
/// into the triangle.
fn known<T: Part>() {
    for n in [40, 100] {
        let mut random = Random(16);
        let of = |re: f64| (re * 4.0).round() / 4.0;
        let mut l = vec![C::new(0.0, 0.0); n * n];
        for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
            l[j * n + i] = match i - j {
                0 => C::new(2.0, 0.0),
                1..4 => C::new(of(random.next()), of(random.next())),
                _ => C::new(0.0, 0.0),
            };
        }
        for triangle in BOTH {
            let mut a = vec![T::number(C::new(7.0, 7.0)); n * n];
            for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                let value: C = (0..=j).map(|k| l[k * n + i] * l[k * n + j].conj()).sum();
                a[place(n, triangle, i, j)] = T::number(match triangle {
                    Triangle::Lower => value,
                    Triangle::Upper => value.conj(),
                });
            }
            // Exact in every step.
            let (factor, infos) = batch::<T>(&a, 1, run::<T>(n, triangle, THREADS));
            assert_eq!(infos, [0]);
            for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                let is = factor[place(n, triangle, i, j)];
                let is = match triangle {
                    Triangle::Lower => is,
                    Triangle::Upper => is.conj(),
                };
                assert!(
                    absolute(is - l[j * n + i]) == 0.0,
                    "({i}, {j}) of {n}: {is}"
                );
            }
        }
    }
}

/// The order of the first minor that is not positive definite is told, and what follows is NaN.
fn not_positive<T: Part>() {
    let sizes = [1, 5, 17, 33, 64, 100, 200].into_iter();
    for (n, triangle) in sizes.flat_map(|n| BOTH.map(|triangle| (n, triangle))) {
        for bad in [0, n / 2, n - 1] {
            let mut a = positive::<T>(&mut Random(13), n, triangle);
            a[bad * n + bad] = T::number(C::new(-1.0, 0.0));
            let count = if n > 64 { 1 } else { 7 };
            let all = a.repeat(count);
            let (factors, infos) = batch::<T>(&all, count, run::<T>(n, triangle, THREADS));
            assert_eq!(infos, vec![bad as i32 + 1; count]);
            for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                let is = factors[place(n, triangle, i, j)].re;
                assert_eq!(is.is_nan(), j >= bad, "({i}, {j}) of {n}");
            }
        }
    }
}

/// What is beside the diagonal counts, too, though it is not looked at otherwise; what is in the other triangle does not.
fn not_finite<T: Part>() {
    for (n, triangle) in [9, 33, 70]
        .map(|n| BOTH.map(|triangle| (n, triangle)))
        .concat()
    {
        let mut random = Random(14);
        let x: Vec<T::Number> = (0..7)
            .flat_map(|_| positive::<T>(&mut random, n, triangle))
            .collect();
        for (i, j) in [(0, 0), (n - 1, 0), (n / 2, n / 2), (n - 1, n - 1)] {
            let place = place(n, triangle, i, j);
            for (factor, info) in spoilt::<T>(&x, place, run::<T>(n, triangle, THREADS)) {
                assert!(factor.into_iter().all(is_nan));
                assert_eq!(info, [NOT_FINITE]);
            }
        }
    }
}

in_both! { factors threads known not_positive not_finite }
