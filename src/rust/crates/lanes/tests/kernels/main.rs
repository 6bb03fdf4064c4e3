//! Each kernel alone, on every vector unit of the processor, against naive loops in f64.

mod cholesky;
mod complex;
mod complex_cholesky;
mod complex_eigh;
mod complex_lu;
mod complex_qr;
mod complex_svd;
mod crossprod;
mod eigh;
mod eigh_large;
mod large;
mod lu;
mod qr;
mod svd;
mod svd_large;
mod triangular;

use lanes::testing::lines;
use lanes::{AnyKernel, Float, NoMemory, Together, Unit, Vectorised};

/// Sizes around the edges of panels (4), of what `finite` adds up at once, of vectors (2 to 16 lanes),
/// and of what is left to LAPACK.
const SIZES: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64];

/// Of matrices that are computed with their rows in lanes only, around the edges of panels (8 and 16), of tiles and
/// of what is packed at a time.
const LARGE: [usize; 6] = [65, 72, 95, 128, 131, 257];

/// Of matrices in a batch: none, one, a block that is not full, several full ones.
const COUNTS: [usize; 4] = [0, 1, 7, 64];

/// How much larger than rounding an error may be, for each row or column that takes part.
const SLACK: f64 = 10.0;

/// Makes tests of functions for both dtypes.
macro_rules! in_both {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn f32() {
                super::$name::<f32>();
            }
            #[test]
            fn f64() {
                super::$name::<f64>();
            }
        }
    )*};
}
use in_both;

/// f32 or f64.
trait Real: Vectorised + Float + PartialEq + std::fmt::Debug {}
impl Real for f32 {}
impl Real for f64 {}

fn on<'a, T: Vectorised>(unit: Unit, kernel: impl Into<AnyKernel<'a, T>>, count: usize) {
    T::run_on(unit, kernel.into(), count).expect("memory to work in");
}

/// Three threads for what is asked of any number.
const THREADS: Together<'static> = Together {
    threads: 3,
    run: &|_, work| {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(work);
            }
        });
    },
};

/// A kernel on a unit, given the operands of so many matrices.
type Runs<'a, T> = &'a dyn Fn(Unit, &[T], usize) -> Results<T>;

/// What a kernel gives for a batch: each result's numbers, one matrix after the other, and its integers.
#[derive(Clone, Debug)]
struct Results<T> {
    numbers: Vec<Vec<T>>,
    ints: Vec<Vec<i32>>,
}

impl<T: Real> Results<T> {
    /// Those of matrix `at` of `count`.
    fn of(&self, at: usize, count: usize) -> Results<T> {
        let part = |len: usize| at * len / count..(at + 1) * len / count;
        Results {
            numbers: self
                .numbers
                .iter()
                .map(|x| x[part(x.len())].to_vec())
                .collect(),
            ints: self
                .ints
                .iter()
                .map(|x| x[part(x.len())].to_vec())
                .collect(),
        }
    }

    /// NaN is NaN here, whatever its sign, and 0 is not -0.
    fn bits(&self) -> (Vec<Vec<u64>>, &[Vec<i32>]) {
        let bits = |x: &T| match x.f64() {
            x if x.is_nan() => u64::MAX,
            x => x.to_bits(),
        };
        let all = |x: &Vec<T>| x.iter().map(bits).collect();
        (self.numbers.iter().map(all).collect(), &self.ints)
    }
}

/// The results of `run` for a batch, which must be the same to the last bit on every unit, and of each
/// matrix alone. `x` has the operands of one matrix after those of the other.
fn batch<T: Real>(x: &[T], count: usize, run: Runs<'_, T>) -> Results<T> {
    let units = Unit::all();
    let (&best, others) = units.split_first().expect("a processor with vectors");
    let results = run(best, x, count);
    for &unit in others {
        assert_eq!(run(unit, x, count).bits(), results.bits(), "{unit:?}");
    }
    for at in [0, count / 2, count.saturating_sub(1)] {
        if at < count {
            let alone = run(best, part(x, at, count), 1);
            assert_eq!(alone.bits(), results.of(at, count).bits(), "matrix {at}");
        }
    }
    results
}

/// Operands of matrix `at` of `count`.
fn part<T>(x: &[T], at: usize, count: usize) -> &[T] {
    &x[at * x.len() / count..(at + 1) * x.len() / count]
}

/// Seven matrices, of which the third and the sixth are spoilt at `place`: what `run` gives for these,
/// while all others are as they were.
fn spoilt<T: Real>(x: &[T], place: usize, run: Runs<'_, T>) -> [Results<T>; 2] {
    const COUNT: usize = 7;
    let clean = batch(x, COUNT, run);
    let mut bad = x.to_vec();
    let each = x.len() / COUNT;
    bad[2 * each + place] = T::of(f64::NAN);
    bad[5 * each + place] = T::of(f64::INFINITY);
    let results = batch(&bad, COUNT, run);
    for at in [0, 1, 3, 4, 6] {
        let (was, is) = (clean.of(at, COUNT), results.of(at, COUNT));
        assert_eq!(is.bits(), was.bits(), "a neighbour changed matrix {at}");
    }
    [results.of(2, COUNT), results.of(5, COUNT)]
}

fn all_nan<T: Real>(x: &[T]) -> bool {
    x.iter().all(|x| x.f64().is_nan())
}

/// Reproducible numbers in `[-1, 1)`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn numbers<T: Real>(&mut self, len: usize) -> Vec<T> {
        (0..len).map(|_| T::of(self.next())).collect()
    }
}

/// A matrix in f64, column-major.
#[derive(Clone, Debug)]
struct Matrix {
    rows: usize,
    data: Vec<f64>,
}

impl Matrix {
    fn of<T: Real>(rows: usize, data: &[T]) -> Self {
        let data = data.iter().map(|x| x.f64()).collect();
        Matrix { rows, data }
    }

    fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|e| f(e % rows, e / rows)).collect();
        Matrix { rows, data }
    }

    fn identity(n: usize) -> Self {
        Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    fn cols(&self) -> usize {
        self.data.len() / self.rows
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[j * self.rows + i]
    }

    fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[j * self.rows + i] = value;
    }

    fn transposed(&self) -> Self {
        Matrix::from_fn(self.cols(), self.rows, |i, j| self.at(j, i))
    }

    fn times(&self, other: &Matrix) -> Self {
        assert_eq!(self.cols(), other.rows);
        let mut data = vec![0.0; self.rows * other.cols()];
        let columns = data.chunks_exact_mut(self.rows);
        for (sum, factors) in columns.zip(other.data.chunks_exact(other.rows)) {
            for (column, factor) in self.data.chunks_exact(self.rows).zip(factors) {
                for (sum, x) in sum.iter_mut().zip(column) {
                    *sum += x * factor;
                }
            }
        }
        Matrix {
            rows: self.rows,
            data,
        }
    }

    fn exchange_rows(&mut self, a: usize, b: usize) {
        for j in 0..self.cols() {
            self.data.swap(j * self.rows + a, j * self.rows + b);
        }
    }

    /// The largest element.
    fn size(&self) -> f64 {
        self.data.iter().fold(0.0, |size, x| size.max(x.abs()))
    }

    /// That this is `other` up to rounding in `T` of `terms` numbers of that `size`.
    #[track_caller]
    fn expect<T: Real>(&self, other: &Matrix, terms: usize, size: f64) {
        assert_eq!((self.rows, self.data.len()), (other.rows, other.data.len()));
        let most = SLACK * T::ROUNDING.f64() * terms as f64 * size;
        for (e, (x, y)) in self.data.iter().zip(&other.data).enumerate() {
            let (i, j) = (e % self.rows, e / self.rows);
            assert!(
                (x - y).abs() <= most,
                "({i}, {j}): {x} for {y}, within {most}"
            );
        }
    }

    /// That its columns are orthonormal.
    #[track_caller]
    fn expect_orthonormal<T: Real>(&self) {
        let (n, terms) = (self.cols(), self.rows);
        self.transposed()
            .times(self)
            .expect::<T>(&Matrix::identity(n), terms, 1.0);
    }
}

#[test]
fn there_is_a_unit_to_test() {
    assert!(
        !Unit::all().is_empty(),
        "this processor has no vector unit that there is code for"
    );
}

#[test]
fn too_much_memory_is_an_error() {
    for len in [1 << 52, usize::MAX] {
        let bytes = len.saturating_mul(64);
        assert_eq!(lines(len), Err(NoMemory { bytes }));
        assert_eq!(lines(3), Ok(3));
    }
}
