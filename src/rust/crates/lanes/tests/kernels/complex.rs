//! Kernels of complex matrices: the same bits on every unit, alone and in a batch, and products that are the matrix.

use crate::{in_both, on, Random, Real, SLACK, THREADS};
use lanes::cholesky::Potrf;
use lanes::lu::Lu;
use lanes::triangular::Trsm;
use lanes::{Run, Unit, Vectorised};
use matrices::{Complex, Form, Transpose, Triangle};

pub(crate) type C = Complex<f64>;

const SIZES: [usize; 9] = [1, 2, 3, 4, 5, 9, 16, 17, 32];
const COUNTS: [usize; 3] = [1, 7, 33];

/// A part of complex numbers.
pub(crate) trait Part: Real {
    type Number: Vectorised<Real = Self>;
    fn number(value: C) -> Self::Number;
    fn c(number: Self::Number) -> C;
}

macro_rules! parts {
    ($($t:ident)*) => {$(
        impl Part for $t {
            type Number = Complex<$t>;
            fn number(value: C) -> Complex<$t> {
                Complex::new(value.re as $t, value.im as $t)
            }
            fn c(number: Complex<$t>) -> C {
                Complex::new(number.re.into(), number.im.into())
            }
        }
    )*};
}
parts!(f32 f64);

pub(crate) fn absolute(number: C) -> f64 {
    number.re.hypot(number.im)
}

pub(crate) fn polar(size: f64, angle: f64) -> C {
    C::new(size * angle.cos(), size * angle.sin())
}

pub(crate) fn numbers<T: Part>(random: &mut Random, len: usize) -> Vec<T::Number> {
    (0..len)
        .map(|_| T::number(C::new(random.next(), random.next())))
        .collect()
}

/// What a kernel gives on a unit for so many matrices.
pub(crate) type Results<N> = (Vec<N>, Vec<i32>);

/// The results of a batch, the same to the last bit on every unit, and of each matrix alone.
pub(crate) fn batch<T: Part>(
    x: &[T::Number],
    count: usize,
    runs: impl Fn(Unit, &[T::Number], usize) -> Results<T::Number>,
) -> (Vec<C>, Vec<i32>) {
    let run = |unit: Unit, x: &[T::Number], count: usize| {
        let (numbers, ints) = runs(unit, x, count);
        let numbers: Vec<C> = numbers.into_iter().map(T::c).collect();
        (numbers, ints)
    };
    let bits = |numbers: &[C]| -> Vec<[u64; 2]> {
        // NaN is NaN here, whatever its sign.
        let one = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        let parts = |x: &C| [one(x.re), one(x.im)];
        numbers.iter().map(parts).collect()
    };
    let units = Unit::all();
    let (&best, others) = units.split_first().expect("a processor with vectors");
    let (numbers, ints) = run(best, x, count);
    for &unit in others {
        let other = run(unit, x, count);
        assert_eq!(bits(&other.0), bits(&numbers), "{unit:?}");
        assert_eq!(other.1, ints, "{unit:?}");
    }
    for at in [0, count / 2, count - 1] {
        let alone = run(best, part(x, at, count), 1);
        assert_eq!(bits(&alone.0), bits(part(&numbers, at, count)), "{at}");
        assert_eq!(alone.1, part(&ints, at, count), "matrix {at}");
    }
    (numbers, ints)
}

/// What is of matrix `at` of `count`.
pub(crate) fn part<T>(x: &[T], at: usize, count: usize) -> &[T] {
    &x[at * x.len() / count..(at + 1) * x.len() / count]
}

/// That `n` × `n` matrices are equal up to rounding.
#[track_caller]
fn expect<T: Part>(
    n: usize,
    is: impl Fn(usize, usize) -> C,
    should: impl Fn(usize, usize) -> C,
    size: f64,
) {
    let most = SLACK * T::ROUNDING.f64() * (n + 1) as f64 * size;
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let off = absolute(is(i, j) - should(i, j));
        assert!(off <= most, "({i}, {j}) of {n}: {off}, within {most}");
    }
}

fn lu<T: Part>() {
    let mut random = Random(11);
    for n in SIZES {
        for count in COUNTS {
            let x = numbers::<T>(&mut random, n * n * count);
            let (lu, ints) = batch::<T>(&x, count, |unit, x, count| {
                let (mut a, mut ints) = (x.to_vec(), vec![0; n * count]);
                let mut info = vec![-1; count];
                let kernel = Lu {
                    run: Run::in_place((n, n), &mut a, THREADS),
                    pivots: &mut ints,
                    info: &mut info,
                };
                on(unit, kernel, count);
                assert!(info.iter().all(|&info| info == 0));
                (a, ints)
            });
            for at in 0..count {
                let (lu, pivots) = (part(&lu, at, count), part(&ints, at, count));
                let mut a: Vec<C> = part(&x, at, count).iter().map(|&x| T::c(x)).collect();
                for (i, &pivot) in pivots.iter().enumerate() {
                    for j in 0..n {
                        a.swap(j * n + i, j * n + pivot as usize - 1);
                    }
                }
                let l = |i: usize, k: usize| {
                    if i == k {
                        C::new(1.0, 0.0)
                    } else {
                        lu[k * n + i]
                    }
                };
                let product =
                    |i: usize, j: usize| (0..=i.min(j)).map(|k| l(i, k) * lu[j * n + k]).sum::<C>();
                let size = lu
                    .iter()
                    .fold(2.0, |size: f64, x| size.max(x.re.hypot(x.im)));
                expect::<T>(n, product, |i, j| a[j * n + i], size);
            }
        }
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

fn cholesky<T: Part>() {
    let mut random = Random(12);
    for (n, triangle) in SIZES
        .into_iter()
        .flat_map(|n| [(n, Triangle::Lower), (n, Triangle::Upper)])
    {
        for count in COUNTS {
            let x: Vec<T::Number> = (0..count)
                .flat_map(|_| positive::<T>(&mut random, n, triangle))
                .collect();
            let (factors, infos) = batch::<T>(&x, count, |unit, x, count| {
                let (mut a, mut info) = (x.to_vec(), vec![-1; count]);
                let kernel = Potrf {
                    n,
                    triangle,
                    a: &mut a,
                    info: &mut info,
                    together: THREADS,
                };
                on(unit, kernel, count);
                (a, info)
            });
            assert_eq!(infos, vec![0; count]);
            for at in 0..count {
                let given = part(&x, at, count);
                let factor = part(&factors, at, count);
                // As a lower triangle, of the one that is read.
                let of = |a: &dyn Fn(usize) -> C, i: usize, j: usize| match triangle {
                    Triangle::Lower => a(j * n + i),
                    Triangle::Upper => a(i * n + j).conj(),
                };
                let l = |i: usize, j: usize| of(&|e| factor[e], i, j);
                let product = |i: usize, j: usize| {
                    let (i, j) = (i.max(j), i.min(j));
                    (0..=j).map(|k| l(i, k) * l(j, k).conj()).sum::<C>()
                };
                let should = |i: usize, j: usize| {
                    let (i, j) = (i.max(j), i.min(j));
                    let value = of(&|e| T::c(given[e]), i, j);
                    C::new(value.re, if i == j { 0.0 } else { value.im })
                };
                expect::<T>(n, product, should, 2.0 * n as f64);
                assert!((0..n).all(|i| l(i, i).im == 0.0));
            }
        }
    }
}

/// The order of the first minor that is not positive definite is told, and what follows is NaN.
fn not_positive<T: Part>() {
    for n in [1, 5, 17] {
        for bad in [0, n / 2, n - 1] {
            let mut a = positive::<T>(&mut Random(13), n, Triangle::Lower);
            a[bad * n + bad] = T::number(C::new(-1.0, 0.0));
            let mut infos = vec![-1; 7];
            let mut all = a.repeat(7);
            let kernel = Potrf {
                n,
                triangle: Triangle::Lower,
                a: &mut all,
                info: &mut infos,
                together: THREADS,
            };
            on(Unit::all()[0], kernel, 7);
            assert_eq!(infos, [bad as i32 + 1; 7]);
            for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
                assert_eq!(T::c(all[j * n + i]).re.is_nan(), j >= bad, "({i}, {j})");
            }
        }
    }
}

fn solves<T: Part>() {
    let mut random = Random(14);
    for n in SIZES {
        for (left, lower, transpose, unit) in (0..24).map(|k| {
            let transposes = [Transpose::No, Transpose::Plain, Transpose::Conjugate];
            (k % 2 == 0, k / 2 % 2 == 0, transposes[k / 4 % 3], k >= 12)
        }) {
            let triangle = if lower {
                Triangle::Lower
            } else {
                Triangle::Upper
            };
            let form = Form {
                left,
                triangle,
                transpose,
                unit,
            };
            let count = 5;
            let mut x = numbers::<T>(&mut random, n * n * count);
            for matrix in x.chunks_mut(n * n) {
                for (e, number) in matrix.iter_mut().enumerate() {
                    // A unit diagonal, too, is far from singular.
                    let value = T::c(*number) / (n as f64);
                    let diagonal = e % (n + 1) == 0;
                    *number = T::number(if diagonal { value + 2.0 } else { value });
                }
            }
            let y = numbers::<T>(&mut random, n * n * count);
            let both: Vec<T::Number> = x
                .chunks(n * n)
                .zip(y.chunks(n * n))
                .flat_map(|(x, y)| [x, y].concat())
                .collect();
            let (solved, _) = batch::<T>(&both, count, |vectors, both, count| {
                let pick = |second: usize| -> Vec<T::Number> {
                    both.chunks(n * n)
                        .skip(second)
                        .step_by(2)
                        .flatten()
                        .copied()
                        .collect()
                };
                let (x, mut y) = (pick(0), pick(1));
                let kernel = Trsm {
                    form,
                    m: n,
                    n,
                    x: &x,
                    y: &mut y,
                    together: lanes::ALONE,
                };
                on(vectors, kernel, count);
                (y, vec![0; count])
            });
            for at in 0..count {
                let (x, y) = (part(&x, at, count), part(&y, at, count));
                let s = part(&solved, at, count);
                let stored = |i: usize, j: usize| match () {
                    () if i == j && unit => C::new(1.0, 0.0),
                    () if i == j || (i > j) == lower => T::c(x[j * n + i]),
                    () => C::new(0.0, 0.0),
                };
                let matrix = |i: usize, j: usize| match transpose {
                    Transpose::No => stored(i, j),
                    Transpose::Plain => stored(j, i),
                    Transpose::Conjugate => stored(j, i).conj(),
                };
                let product = |i: usize, j: usize| {
                    let term = |k: usize| match left {
                        true => matrix(i, k) * s[j * n + k],
                        false => s[k * n + i] * matrix(k, j),
                    };
                    (0..n).map(term).sum::<C>()
                };
                expect::<T>(n, product, |i, j| T::c(y[j * n + i]), 8.0);
            }
        }
    }
}

in_both! { lu cholesky not_positive solves }
