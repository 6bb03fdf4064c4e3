//! Kernels of complex matrices: the same bits on every unit, alone and in a batch, and products that are the matrix.

use crate::{in_both, on, Random, Real, SLACK};
use lanes::triangular::Trsm;
use lanes::{Unit, Vectorised};
use matrices::{Complex, Form, Transpose, Triangle};

pub(crate) type C = Complex<f64>;

/// Of matrices that are computed in blocks.
pub(crate) const SIZES: [usize; 9] = [1, 2, 3, 4, 5, 9, 16, 17, 32];
/// Of those with their rows in lanes, around the edges of panels (8 and 16), and so large that threads take part.
pub(crate) const LARGE: [usize; 7] = [33, 48, 64, 65, 97, 131, 200];
const COUNTS: [usize; 3] = [1, 7, 33];

/// How many matrices of that size there are in a batch.
pub(crate) fn counts(n: usize) -> &'static [usize] {
    match n {
        0..33 => &COUNTS,
        33..65 => &COUNTS[..2],
        _ => &COUNTS[..1],
    }
}

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
    let units = Unit::all();
    let (&best, others) = units.split_first().expect("a processor with vectors");
    let (numbers, ints) = run(best, x, count);
    for &unit in others {
        let other = run(unit, x, count);
        assert!(bits(&other.0) == bits(&numbers), "{unit:?}");
        assert_eq!(other.1, ints, "{unit:?}");
    }
    for at in [0, count / 2, count - 1] {
        let alone = run(best, part(x, at, count), 1);
        assert!(bits(&alone.0) == bits(part(&numbers, at, count)), "{at}");
        assert_eq!(alone.1, part(&ints, at, count), "matrix {at}");
    }
    (numbers, ints)
}

/// What is of matrix `at` of `count`.
pub(crate) fn part<T>(x: &[T], at: usize, count: usize) -> &[T] {
    &x[at * x.len() / count..(at + 1) * x.len() / count]
}

/// What all is, bit by bit, but NaN is NaN whatever its sign.
pub(crate) fn bits(numbers: &[C]) -> Vec<[u64; 2]> {
    let one = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let parts = |x: &C| [one(x.re), one(x.im)];
    numbers.iter().map(parts).collect()
}

pub(crate) fn is_nan(number: C) -> bool {
    number.re.is_nan() && number.im.is_nan()
}

/// Seven matrices, of which the third has NaN as its real part at `place`, and the sixth an infinity as its imaginary
/// part, of results of the others; `run` gives the results.
pub(crate) fn spoilt<T: Part>(
    x: &[T::Number],
    place: usize,
    run: impl Fn(Unit, &[T::Number], usize) -> Results<T::Number>,
) -> [(Vec<C>, Vec<i32>); 2] {
    const COUNT: usize = 7;
    let clean = batch::<T>(x, COUNT, &run);
    let mut bad = x.to_vec();
    let each = x.len() / COUNT;
    for (at, part) in [(2, C::new(f64::NAN, 0.0)), (5, C::new(0.0, f64::INFINITY))] {
        let number = &mut bad[at * each + place];
        *number = T::number(T::c(*number) + part);
    }
    let results = batch::<T>(&bad, COUNT, &run);
    let of = |(numbers, ints): &(Vec<C>, Vec<i32>), at: usize| {
        let numbers = part(numbers, at, COUNT).to_vec();
        (numbers, part(ints, at, COUNT).to_vec())
    };
    for at in [0, 1, 3, 4, 6] {
        let (was, is) = (of(&clean, at), of(&results, at));
        assert!(
            bits(&was.0) == bits(&is.0),
            "a neighbour changed matrix {at}"
        );
        assert_eq!(was.1, is.1, "matrix {at}");
    }
    [of(&results, 2), of(&results, 5)]
}

/// That matrices of `m` × `n` are equal up to rounding.
#[track_caller]
pub(crate) fn expect<T: Part>(
    (m, n): (usize, usize),
    is: impl Fn(usize, usize) -> C,
    should: impl Fn(usize, usize) -> C,
    size: f64,
) {
    let most = SLACK * T::ROUNDING.f64() * (m.min(n) + 1) as f64 * size;
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let off = absolute(is(i, j) - should(i, j));
        assert!(off <= most, "({i}, {j}) of {m} x {n}: {off}, within {most}");
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
                expect::<T>((n, n), product, |i, j| T::c(y[j * n + i]), 8.0);
            }
        }
    }
}

in_both! { solves }
