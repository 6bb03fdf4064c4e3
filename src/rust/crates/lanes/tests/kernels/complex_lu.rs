//! `L` and `U` of complex matrices, in blocks and with their rows in lanes.

use crate::complex::{
    absolute, batch, bits, counts, expect, is_nan, numbers, part, spoilt, Part, Results, C, LARGE,
    SIZES,
};
use crate::{in_both, on, Random, THREADS};
use lanes::lu::Lu;
use lanes::{Run, Together, Unit};

/// What the kernel gives for matrices of `m` × `n`: the pivots of all, then their `info`s, in the order of the matrices.
fn run<T: Part>(
    (m, n): (usize, usize),
    together: Together<'static>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    move |unit, x, count| {
        let rank = m.min(n);
        let (mut a, mut pivots) = (x.to_vec(), vec![0; rank * count]);
        let mut info = vec![-1; count];
        let kernel = Lu {
            run: Run::in_place((m, n), &mut a, together),
            pivots: &mut pivots,
            info: &mut info,
        };
        on(unit, kernel, count);
        let each = pivots.chunks(rank).zip(&info);
        let ints = each.flat_map(|(pivots, info)| [pivots, &[*info]].concat());
        (a, ints.collect())
    }
}

/// That `L` and `U` multiplied are the matrix, its rows exchanged.
#[track_caller]
fn expect_factors<T: Part>((m, n): (usize, usize), x: &[T::Number], lu: &[C], pivots: &[i32]) {
    let mut a: Vec<C> = x.iter().map(|&x| T::c(x)).collect();
    for (i, &pivot) in pivots.iter().enumerate() {
        assert!((i + 1..=m).contains(&(pivot as usize)), "{pivot} in {i}");
        for j in 0..n {
            a.swap(j * m + i, j * m + pivot as usize - 1);
        }
    }
    let rank = m.min(n);
    for k in 0..rank {
        let below = &lu[k * m + k + 1..(k + 1) * m];
        // A number is no larger than the sum of its parts, which is the square root of 2 times as large at most.
        assert!(below.iter().all(|&l| absolute(l) <= 1.4143), "column {k}");
    }
    let mut product = vec![C::new(0.0, 0.0); m * n];
    for j in 0..n {
        for k in 0..rank.min(j + 1) {
            let u = lu[j * m + k];
            product[j * m + k] += u;
            for i in k + 1..m {
                product[j * m + i] += lu[k * m + i] * u;
            }
        }
    }
    let largest = |size: f64, x: &C| size.max(absolute(*x));
    let size = lu.iter().fold(2.0, largest);
    expect::<T>((m, n), |i, j| product[j * m + i], |i, j| a[j * m + i], size);
}

fn factors<T: Part>() {
    let mut random = Random(11);
    let shapes = |n: usize| match n {
        0..33 => vec![(n, n)],
        _ => vec![(n, n), (n, n / 2 + 1), (n / 3, n)],
    };
    for (m, n) in SIZES.into_iter().chain(LARGE).flat_map(shapes) {
        for &count in counts(m.max(n)) {
            let x = numbers::<T>(&mut random, m * n * count);
            let (lu, ints) = batch::<T>(&x, count, run::<T>((m, n), THREADS));
            for at in 0..count {
                let (pivots, info) = part(&ints, at, count).split_at(m.min(n));
                expect_factors::<T>((m, n), part(&x, at, count), part(&lu, at, count), pivots);
                assert_eq!(info, [0]);
            }
        }
    }
}

/// More than is packed at a time; by one thread and by several to the same bits.
fn threads<T: Part>() {
    for (m, n) in [(270, 270), (340, 170), (150, 300)] {
        let x = numbers::<T>(&mut Random(12), m * n);
        let (lu, ints) = batch::<T>(&x, 1, run::<T>((m, n), THREADS));
        let (pivots, info) = ints.split_at(m.min(n));
        expect_factors::<T>((m, n), &x, &lu, pivots);
        assert_eq!(info, [0]);
        let (alone, same) = run::<T>((m, n), lanes::ALONE)(Unit::all()[0], &x, 1);
        let alone: Vec<C> = alone.into_iter().map(T::c).collect();
        assert!(bits(&alone) == bits(&lu), "{m} x {n}");
        assert_eq!(same, ints);
    }
}

/// Of numbers whose parts have the same sum the first one is the pivot, wherever its row was before.
fn ties<T: Part>() {
    for n in [5, 16, 33, 70] {
        // Exact in every step: a triangle of ones, its rows in another order, each there twice, times 1, i, -1 or -i.
        let units = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        let element = |e: usize| {
            let (i, j) = (e % n, e / n);
            let (re, im) = units[i % 4];
            let one = f64::from(u8::from((i * 7 + 3) % n / 2 >= j));
            C::new(re * one, im * one)
        };
        let x: Vec<T::Number> = (0..n * n).map(|e| T::number(element(e))).collect();
        let (_, ints) = batch::<T>(&x, 1, run::<T>((n, n), THREADS));
        let mut a: Vec<C> = (0..n * n).map(element).collect();
        for (j, &pivot) in ints[..n].iter().enumerate() {
            let size = |i: usize| a[j * n + i].re.abs() + a[j * n + i].im.abs();
            let first = |best: usize, i: usize| if size(best) < size(i) { i } else { best };
            let largest = (j..n).fold(j, first);
            assert_eq!(pivot as usize - 1, largest, "column {j} of {n}");
            for c in 0..n {
                a.swap(c * n + j, c * n + largest);
            }
            let pivot = a[j * n + j];
            if absolute(pivot) == 0.0 {
                continue;
            }
            for i in j + 1..n {
                let l = a[j * n + i] / pivot;
                for c in j + 1..n {
                    let u = a[c * n + j];
                    a[c * n + i] -= l * u;
                }
            }
        }
    }
}

/// The larger sum of parts is the pivot, though the number is the smaller one.
fn sums_of_parts<T: Part>() {
    for n in [2, 40] {
        let mut a = vec![T::number(C::new(0.0, 0.0)); n * n];
        for i in 0..n {
            a[i * n + i] = T::number(C::new(1.25, 0.0));
        }
        a[n - 1] = T::number(C::new(0.75, -0.75));
        let (_, ints) = batch::<T>(&a, 1, run::<T>((n, n), THREADS));
        assert_eq!(ints[0], n as i32);
    }
}

/// The first column without a pivot is told, and the rest is computed.
fn singular<T: Part>() {
    for n in [5, 17, 33, 64, 100, 200] {
        for bad in [0, n / 2, n - 1] {
            let mut a = numbers::<T>(&mut Random(13), n * n);
            a[bad * n..(bad + 1) * n].fill(T::number(C::new(0.0, 0.0)));
            let (lu, ints) = batch::<T>(&a, 1, run::<T>((n, n), THREADS));
            assert_eq!(ints[n..], [bad as i32 + 1]);
            expect_factors::<T>((n, n), &a, &lu, &ints[..n]);
        }
    }
}

/// Pivots so small that their reciprocals are infinite, and one that is small in one of its parts only.
fn subnormal<T: Part>() {
    for n in [3, 40] {
        for at in [0, n - 2] {
            let small = T::SMALLEST.f64() / 8.0;
            let mut a = vec![T::number(C::new(0.0, 0.0)); n * n];
            for i in 0..n {
                a[i * n + i] = T::number(C::new(1.0, small));
            }
            a[at * n + at] = T::number(C::new(small, small));
            a[at * n + n - 1] = T::number(C::new(small / 2.0, -small / 2.0));
            let (lu, ints) = batch::<T>(&a, 1, run::<T>((n, n), THREADS));
            let mut should: Vec<C> = a.iter().map(|&a| T::c(a)).collect();
            should[at * n + n - 1] = C::new(0.0, -0.5);
            assert!(lu == should, "{n}, {at}: {:?}", lu[at * n + n - 1]);
            assert!(ints[..n].iter().zip(1..).all(|(&pivot, i)| pivot == i));
        }
    }
}

fn not_finite<T: Part>() {
    for n in [1, 9, 33, 70] {
        let x = numbers::<T>(&mut Random(14), n * n * 7);
        for place in [0, n * n / 2, n * n - 1] {
            for (lu, ints) in spoilt::<T>(&x, place, run::<T>((n, n), THREADS)) {
                assert!(lu.into_iter().all(is_nan));
                assert_eq!(ints[..n], (1..=n as i32).collect::<Vec<_>>());
                assert_eq!(ints[n..], [0]);
            }
        }
    }
}

in_both! { factors threads ties sums_of_parts singular subnormal not_finite }
