//! What the tests of linear algebra share: numbers of every dtype, matrices to check with, in
//! complex double precision whatever is tested, and the ratios of LAPACK working note 41.
#![allow(dead_code, unused_imports, unused_macros)] // Each test uses its own part.

#[cfg(target_os = "linux")]
pub mod fake;

use xla_ffi::testing::{Call, Frame};
use xla_ffi::{Complex, HandlerFn, Scalar};

pub type C = Complex<f64>;

/// LAPACK's threshold for its test ratios.
pub const RATIO: f64 = 30.0;

pub const SIZES: [usize; 9] = [1, 2, 3, 5, 8, 17, 33, 65, 129];

/// Whether the tests are those of CUDA, which run the CPU's a second time.
pub const ON_CUDA: bool = matches!(
    env!("CARGO_CRATE_NAME").as_bytes(),
    [b'c', b'u', b'd', b'a', ..]
);

pub fn handler(target: &str) -> HandlerFn {
    let platform = if ON_CUDA { "cuda" } else { "host" };
    #[cfg(target_os = "linux")]
    if ON_CUDA {
        fake::load();
    }
    ops::find(target, platform).unwrap_or_else(|| panic!("the table has {target} on {platform}"))
}

/// A call, on a stream where there are any.
pub fn start() -> Call {
    if ON_CUDA {
        Call::new().context(1, 0, 0)
    } else {
        Call::new()
    }
}

pub trait Number: Scalar + Default + PartialEq {
    type Real: Number<Real = Self::Real>;
    type Complex: Number;
    const EPS: f64;
    const COMPLEX: bool;
    /// The letter in LAPACK's names.
    const LETTER: &'static str;
    fn of(value: C) -> Self;
    fn c(self) -> C;
}

macro_rules! numbers {
    ($($part:ident $letter:literal $complex_letter:literal;)*) => {$(
        impl Number for $part {
            type Real = $part;
            type Complex = Complex<$part>;
            const EPS: f64 = $part::EPSILON as f64;
            const COMPLEX: bool = false;
            const LETTER: &'static str = $letter;
            fn of(value: C) -> Self { value.re as $part }
            fn c(self) -> C { C::new(self.into(), 0.0) }
        }

        impl Number for Complex<$part> {
            type Real = $part;
            type Complex = Complex<$part>;
            const EPS: f64 = $part::EPSILON as f64;
            const COMPLEX: bool = true;
            const LETTER: &'static str = $complex_letter;
            fn of(value: C) -> Self { Complex::new(value.re as $part, value.im as $part) }
            fn c(self) -> C { C::new(self.re.into(), self.im.into()) }
        }
    )*};
}
numbers! { f32 "s" "c"; f64 "d" "z"; }

/// Makes a test of a function for every dtype.
macro_rules! for_every_dtype {
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
            #[test]
            fn c64() {
                super::$name::<xla_ffi::Complex<f32>>();
            }
            #[test]
            fn c128() {
                super::$name::<xla_ffi::Complex<f64>>();
            }
        }
    )*};
}
pub(crate) use for_every_dtype;

/// Reproducible numbers.
pub struct Random(pub u64);

impl Random {
    /// In `[-1, 1)`.
    pub fn real(&mut self) -> f64 {
        // Knuth's MMIX generator; its high bits are good enough for test matrices.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn matrix<T: Number>(&mut self, len: usize) -> Vec<T> {
        (0..len)
            .map(|_| T::of(C::new(self.real(), self.real())))
            .collect()
    }

    /// Hermitian `n` × `n`.
    pub fn hermitian<T: Number>(&mut self, n: usize) -> Vec<T> {
        let a = Mat::new(n, n, &self.matrix::<T>(n * n));
        a.plus(&a.adjoint(), 1.0).to()
    }
}

/// Dimensions of a batch of `tail`.
pub fn dims(batch: &[i64], tail: &[usize]) -> Vec<i64> {
    let tail = tail.iter().map(|&d| d as i64);
    batch.iter().copied().chain(tail).collect()
}

pub fn count(batch: &[i64]) -> usize {
    batch.iter().product::<i64>() as usize
}

/// Runs a call that must succeed.
pub fn run(mut frame: Frame, target: &str) -> Frame {
    if let Err(failure) = frame.call(handler(target)) {
        panic!("{target} of good operands: {failure}");
    }
    frame
}

/// A column-major matrix to check with.
#[derive(Clone, Debug, PartialEq)]
pub struct Mat {
    pub m: usize,
    pub n: usize,
    pub data: Vec<C>,
}

impl Mat {
    pub fn new<T: Number>(m: usize, n: usize, data: &[T]) -> Mat {
        assert_eq!(data.len(), m * n);
        let data = data.iter().map(|v| v.c()).collect();
        Mat { m, n, data }
    }

    pub fn make(m: usize, n: usize, f: impl Fn(usize, usize) -> C) -> Mat {
        let data = (0..m * n).map(|at| f(at % m, at / m)).collect();
        Mat { m, n, data }
    }

    pub fn identity(n: usize) -> Mat {
        Mat::make(n, n, |i, j| f64::from(u8::from(i == j)).into())
    }

    pub fn to<T: Number>(&self) -> Vec<T> {
        self.data.iter().map(|&v| T::of(v)).collect()
    }

    pub fn at(&self, i: usize, j: usize) -> C {
        self.data[i + j * self.m]
    }

    pub fn adjoint(&self) -> Mat {
        Mat::make(self.n, self.m, |i, j| self.at(j, i).conj())
    }

    pub fn plus(&self, other: &Mat, factor: f64) -> Mat {
        assert_eq!((self.m, self.n), (other.m, other.n));
        let sum = self.data.iter().zip(&other.data);
        let data = sum.map(|(a, b)| a + b * factor).collect();
        Mat { data, ..*self }
    }

    pub fn times(&self, other: &Mat) -> Mat {
        assert_eq!(self.n, other.m);
        let mut product = Mat::make(self.m, other.n, |_, _| C::default());
        for j in 0..other.n {
            let to = &mut product.data[j * self.m..][..self.m];
            for p in 0..self.n {
                let factor = other.at(p, j);
                if factor == C::default() {
                    continue;
                }
                let from = &self.data[p * self.m..][..self.m];
                // Written out: operators are calls where tests are hardly optimised.
                for (t, f) in to.iter_mut().zip(from) {
                    t.re += f.re * factor.re - f.im * factor.im;
                    t.im += f.re * factor.im + f.im * factor.re;
                }
            }
        }
        product
    }

    /// Column `j` times `factors[j]`.
    pub fn scaled<T: Number>(&self, factors: &[T]) -> Mat {
        assert_eq!(self.n, factors.len());
        Mat::make(self.m, self.n, |i, j| self.at(i, j) * factors[j].c())
    }

    pub fn columns(&self, n: usize) -> Mat {
        let data = self.data[..self.m * n].to_vec();
        Mat { n, data, ..*self }
    }

    /// On and above the diagonal, and as many rows.
    pub fn upper(&self, rows: usize) -> Mat {
        Mat::make(rows, self.n, |i, j| {
            if i <= j {
                self.at(i, j)
            } else {
                C::default()
            }
        })
    }

    /// The largest sum of absolute values in a column.
    pub fn norm1(&self) -> f64 {
        let columns = self.data.chunks(self.m.max(1));
        columns
            .map(|c| c.iter().map(|&v| abs(v)).sum())
            .fold(0.0, |a: f64, b: f64| if b.is_nan() { b } else { a.max(b) })
    }
}

pub fn abs(value: C) -> f64 {
    value.re.hypot(value.im)
}

/// Whether one part or the other is NaN.
pub fn is_nan<T: Number>(value: &T) -> bool {
    value.c().re.is_nan() || value.c().im.is_nan()
}

/// Whether all are equal, NaN being equal to NaN.
pub fn same<T: Number>(a: &[T], b: &[T]) -> bool {
    let equal = |(a, b): (&T, &T)| a == b || (is_nan(a) && is_nan(b));
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

/// Equal, or on CUDA, where a matrix of a batch goes another way than one by itself, equal up to
/// rounding.
pub fn same_or_close<T: Number>(a: &[T], b: &[T]) -> bool {
    let close = |(a, b): (&T, &T)| {
        (is_nan(a) && is_nan(b)) || a == b || abs(a.c() - b.c()) <= 1000.0 * T::EPS
    };
    same(a, b) || (ON_CUDA && a.len() == b.len() && a.iter().zip(b).all(close))
}

pub fn ascending<T: Number>(values: &[T]) -> bool {
    values.windows(2).all(|w| w[0].c().re <= w[1].c().re)
}

/// `|residual| / (size |a| eps)`, and 0 for 0 / 0.
pub fn ratio<T: Number>(residual: &Mat, size: usize, norm: f64) -> f64 {
    let residual = residual.norm1();
    if residual == 0.0 {
        return 0.0;
    }
    residual / (size.max(1) as f64 * norm * T::EPS)
}

/// How far the columns are from orthonormal: `|I - QᴴQ| / (m eps)`.
pub fn orthogonality<T: Number>(q: &Mat) -> f64 {
    let gram = q.adjoint().times(q);
    ratio::<T>(&Mat::identity(q.n).plus(&gram, -1.0), q.m, 1.0)
}

#[track_caller]
pub fn assert_small(ratio: f64, what: &str) {
    assert!(ratio < RATIO, "{what}: ratio {ratio}");
}

/// `n`, or `n` and half as many.
pub fn shapes(n: usize) -> [(usize, usize); 3] {
    [(n, n), (n + n / 2 + 1, n), (n, n + n / 2 + 1)]
}
