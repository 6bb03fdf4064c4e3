//! What a library must get right before it is used: each routine on a small matrix, in each dtype.
//! (R 4.2.2's own BLAS fails one form of `ztrsm`, and a library with 64-bit integers fails everything.)

use super::Library;
use crate::routines as lapack;
use crate::sys::{Int, Routines};
use crate::workspace::{Sizes, Workspace};
use matrices::{Complex, Element, Form, Transpose, Triangle, Vectors};

type C = Complex<f64>;

/// Rows of the matrices.
const N: usize = 6;

/// Rounding errors that are allowed, in units of a dtype.
const UNITS: f64 = 2000.0;

/// # Errors
/// What it got wrong.
pub(super) fn run(library: &Library) -> Result<(), String> {
    if !has_short_integers(library) {
        return Err("takes 64-bit integers under the names of others".to_owned());
    }
    dtype::<f32>("s")?;
    dtype::<f64>("d")?;
    dtype::<Complex<f32>>("c")?;
    dtype::<Complex<f64>>("z")
}

/// Whether INTEGER has 32 bits, seen with memory that is enough for more.
fn has_short_integers(library: &Library) -> bool {
    let mut a = [1.0, 4.0, 2.0, 12.0];
    let n: [Int; 2] = [2, 0];
    let (mut pivots, mut info): ([Int; 4], [Int; 2]) = ([7; 4], [7; 2]);
    // SAFETY: a 2 × 2 matrix, with room for pivots, sizes and `info` of twice the width.
    unsafe {
        (library.d.getrf)(
            n.as_ptr(),
            n.as_ptr(),
            a.as_mut_ptr(),
            n.as_ptr(),
            pivots.as_mut_ptr(),
            info.as_mut_ptr(),
        );
    }
    pivots == [2, 2, 7, 7] && info == [0, 7]
}

/// A dtype and its conversions.
trait Tried: Routines {
    const EPSILON: f64;
    fn of(value: C) -> Self;

    fn value(self) -> C {
        C::new(self.re_f64(), self.im_f64())
    }
}

macro_rules! tried {
    ($($real:ident),*) => {$(
        impl Tried for $real {
            const EPSILON: f64 = $real::EPSILON as f64;

            fn of(value: C) -> Self {
                value.re as $real
            }

        }

        impl Tried for Complex<$real> {
            const EPSILON: f64 = $real::EPSILON as f64;

            fn of(value: C) -> Self {
                Complex::new(value.re as $real, value.im as $real)
            }

        }
    )*};
}
tried!(f32, f64);

/// A square matrix, by columns.
#[derive(Clone, Debug)]
struct Square(Vec<C>);

impl Square {
    fn of(f: impl Fn(usize, usize) -> C) -> Self {
        Square((0..N * N).map(|k| f(k % N, k / N)).collect())
    }

    fn from<T: Tried>(values: &[T]) -> Self {
        Square(values.iter().map(|value| value.value()).collect())
    }

    fn to<T: Tried>(&self) -> Vec<T> {
        self.0.iter().map(|&value| T::of(value)).collect()
    }

    fn at(&self, i: usize, j: usize) -> C {
        self.0[i + j * N]
    }

    fn diagonal(values: impl Fn(usize) -> C) -> Self {
        Self::of(|i, j| if i == j { values(i) } else { C::new(0.0, 0.0) })
    }

    fn times(&self, other: &Self) -> Self {
        Self::of(|i, j| (0..N).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    fn transposed(&self) -> Self {
        Self::of(|i, j| self.at(j, i))
    }

    fn adjoint(&self) -> Self {
        Self::of(|i, j| self.at(j, i).conj())
    }

    /// The triangle, with ones on the diagonal if `unit`.
    fn triangle(&self, triangle: Triangle, unit: bool) -> Self {
        Self::of(|i, j| {
            let inside = match triangle {
                Triangle::Lower => i > j,
                Triangle::Upper => i < j,
            };
            match (inside || i == j && !unit, i == j) {
                (true, _) => self.at(i, j),
                (false, true) => C::new(1.0, 0.0),
                (false, false) => C::new(0.0, 0.0),
            }
        })
    }

    /// Whether all elements are those of `other`, up to `units` of rounding.
    fn is(&self, other: &Self, epsilon: f64) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        // A difference that is NaN is not small.
        pairs.all(|(a, b)| (a - b).l1_norm() <= UNITS * epsilon)
    }
}

/// Numbers between -1 and 1 that are not in order.
fn number(seed: usize) -> f64 {
    let bits = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as i64 as f64 / i64::MAX as f64
}

fn workspace<T: Routines>(sizes: Option<Sizes>) -> Result<Workspace<T>, String> {
    let sizes = sizes.ok_or("counts its workspace wrongly")?;
    Workspace::new(sizes).map_err(|error| error.to_string())
}

fn dtype<T: Tried>(letter: &str) -> Result<(), String> {
    let is = |ok: bool, routine: &str| {
        ok.then_some(())
            .ok_or_else(|| format!("computes {letter}{routine} wrongly"))
    };
    let (n, epsilon) = (N as Int, T::EPSILON);
    let zeros = || vec![T::ZERO; N * N];
    let places = || vec![T::ZERO; N];
    // Rounded to the dtype, and not singular.
    let a = Square::from(
        &Square::of(|i, j| {
            let k = i * N + j;
            let strong = if i == j { 3.0 } else { 0.0 };
            C::new(number(k) + strong, number(k + 100))
        })
        .to::<T>(),
    );
    let identity = Square::diagonal(|_| C::new(1.0, 0.0));
    let hermitian = Square::of(|i, j| (a.at(i, j) + a.at(j, i).conj()) * 0.5);
    let regular = a.times(&a.adjoint());

    let (mut lu, mut pivots) = (a.to::<T>(), [0; N]);
    let info = lapack::getrf((n, n), &mut lu, &mut pivots);
    let lu = Square::from(&lu);
    let mut product = lu
        .triangle(Triangle::Lower, true)
        .times(&lu.triangle(Triangle::Upper, false));
    for (i, &pivot) in pivots.iter().enumerate().rev() {
        is(info == 0 && (1..=n).contains(&pivot), "getrf")?;
        for j in 0..N {
            product.0.swap(i + j * N, pivot as usize - 1 + j * N);
        }
    }
    is(product.is(&a, epsilon), "getrf")?;

    let mut ws = workspace(lapack::reduce_sizes(n))?;
    let (mut packed, mut tau) = (a.to::<T>(), places());
    is(
        lapack::geqrf((n, n), &mut packed, &mut tau, &mut ws) == 0,
        "geqrf",
    )?;
    let r = Square::from(&packed).triangle(Triangle::Upper, false);
    let mut applied = r.to::<T>();
    let info = lapack::ormqr(
        (true, false),
        (n, n),
        &mut packed.clone(),
        &tau,
        &mut applied,
        &mut ws,
    );
    is(info == 0 && Square::from(&applied).is(&a, epsilon), "ormqr")?;
    let info = lapack::orgqr((n, n), &mut packed, &tau, &mut ws);
    let q = Square::from(&packed);
    is(
        info == 0 && q.adjoint().times(&q).is(&identity, epsilon),
        "orgqr",
    )?;
    is(q.times(&r).is(&a, epsilon), "geqrf")?;

    let mut ws = workspace(lapack::geqp3_sizes(n))?;
    let (mut packed, mut order, mut tau) = (a.to::<T>(), [0; N], places());
    let info = lapack::geqp3((n, n), &mut packed, &mut order, &mut tau, &mut ws);
    is(
        info == 0 && order.iter().all(|j| (1..=n).contains(j)),
        "geqp3",
    )?;
    let r = Square::from(&packed).triangle(Triangle::Upper, false);
    let permuted = Square::of(|i, j| a.at(i, order[j] as usize - 1));
    let squares = (permuted.adjoint().times(&permuted), r.adjoint().times(&r));
    is(squares.0.is(&squares.1, 10.0 * epsilon), "geqp3")?;

    for triangle in [Triangle::Lower, Triangle::Upper] {
        let mut factor = regular.to::<T>();
        let info = lapack::potrf(triangle, n, &mut factor);
        let factor = Square::from(&factor).triangle(triangle, false);
        let product = match triangle {
            Triangle::Lower => factor.times(&factor.adjoint()),
            Triangle::Upper => factor.adjoint().times(&factor),
        };
        is(info == 0 && product.is(&regular, 10.0 * epsilon), "potrf")?;
        triangular::<T>(triangle, &a, |ok| is(ok, "trsm"))?;
    }

    let (mut dl, mut d, mut du) = (
        vec![T::ONE; N - 1],
        vec![T::of(C::new(4.0, 0.0)); N],
        vec![T::ONE; N - 1],
    );
    let mut x = a.to::<T>();
    let info = lapack::gtsv(&mut dl, &mut d, &mut du, &mut x);
    let band = Square::of(|i, j| C::new([4.0, 1.0, 0.0][i.abs_diff(j).min(2)], 0.0));
    is(
        info == 0 && band.times(&Square::from(&x)).is(&a, epsilon),
        "gtsv",
    )?;

    let real = |values: &[T::Real]| {
        let values: Vec<f64> = values.iter().map(|value| value.re_f64()).collect();
        Square::diagonal(|i| C::new(values[i], 0.0))
    };
    let real_places = || vec![T::Real::ZERO; N];
    for divide in [true, false] {
        let (mut left, mut s, mut u, mut vt) = (a.to::<T>(), real_places(), zeros(), zeros());
        let factors = (&mut u[..], &mut vt[..]);
        let info = if divide {
            let mut ws = workspace(lapack::gesdd_sizes::<T>(Vectors::Thin, n, n))?;
            lapack::gesdd(Vectors::Thin, (n, n), &mut left, &mut s, factors, &mut ws)
        } else {
            let mut ws = workspace(lapack::gesvd_sizes::<T>(Vectors::Thin, n, n))?;
            lapack::gesvd(Vectors::Thin, (n, n), &mut left, &mut s, factors, &mut ws)
        };
        let (u, vt) = (Square::from(&u), Square::from(&vt));
        let routine = if divide { "gesdd" } else { "gesvd" };
        is(
            info == 0 && u.adjoint().times(&u).is(&identity, epsilon),
            routine,
        )?;
        is(u.times(&real(&s)).times(&vt).is(&a, epsilon), routine)?;
    }

    for triangle in [Triangle::Lower, Triangle::Upper] {
        let (mut v, mut w) = (hermitian.to::<T>(), real_places());
        let mut ws = workspace(lapack::syevd_sizes::<T>(true, n))?;
        let info = lapack::syevd(true, triangle, &mut v, &mut w, &mut ws);
        let v = Square::from(&v);
        is(
            info == 0 && v.adjoint().times(&v).is(&identity, epsilon),
            "syevd",
        )?;
        is(
            v.times(&real(&w))
                .times(&v.adjoint())
                .is(&hermitian, epsilon),
            "syevd",
        )?;

        let (mut x, mut d, mut e, mut tau) =
            (hermitian.to::<T>(), real_places(), real_places(), places());
        let mut ws = workspace(lapack::reduce_sizes(n))?;
        let factors = (&mut d[..], &mut e[..N - 1], &mut tau[..N - 1]);
        let info = lapack::sytrd(triangle, &mut x, factors, &mut ws);
        let sum = |x: &Square| (0..N).map(|i| x.at(i, i)).sum::<C>();
        let (d, e) = (real(&d), real(&e));
        let squares = |x: &Square| x.0.iter().map(|x| x.norm_sqr()).sum::<f64>();
        let kept = (sum(&d) - sum(&hermitian)).l1_norm()
            + (squares(&d) + 2.0 * squares(&e) - squares(&hermitian)).abs();
        is(info == 0 && kept <= 10.0 * UNITS * epsilon, "sytrd")?;
    }

    spectra::<T>(&a, is)
}

/// All forms of triangular systems.
fn triangular<T: Tried>(
    triangle: Triangle,
    a: &Square,
    is: impl Fn(bool) -> Result<(), String>,
) -> Result<(), String> {
    let n = N as Int;
    for transpose in [Transpose::No, Transpose::Plain, Transpose::Conjugate] {
        for (left, unit) in [(true, false), (true, true), (false, false), (false, true)] {
            let form = Form {
                left,
                triangle,
                transpose,
                unit,
            };
            let mut x = a.transposed().to::<T>();
            let info = lapack::trsm(form, (n, n), &a.to::<T>(), &mut x);
            let (factor, x) = (a.triangle(triangle, unit), Square::from(&x));
            let factor = match transpose {
                Transpose::No => factor,
                Transpose::Plain => factor.transposed(),
                Transpose::Conjugate => factor.adjoint(),
            };
            let product = if left {
                factor.times(&x)
            } else {
                x.times(&factor)
            };
            // Triangles with ones grow.
            is(info == 0 && product.is(&a.transposed(), 100.0 * T::EPSILON))?;
        }
    }
    Ok(())
}

/// What eigenvalues of general matrices are made of.
fn spectra<T: Tried>(
    a: &Square,
    is: impl Fn(bool, &'static str) -> Result<(), String>,
) -> Result<(), String> {
    let n = N as Int;
    let imaginary = if T::COMPLEX { 0 } else { N };
    let zeros = || vec![T::ZERO; N * N];
    let identity = Square::diagonal(|_| C::new(1.0, 0.0));
    let sum = |x: &Square| (0..N).map(|i| x.at(i, i)).sum::<C>();

    let (mut t, mut w, mut wi, mut z) = (
        a.to::<T>(),
        vec![T::ZERO; N],
        vec![T::ZERO; imaginary],
        zeros(),
    );
    let mut ws = workspace(lapack::gees_sizes::<T>(true, n))?;
    let info = lapack::gees(&mut t, (&mut w, &mut wi), &mut z, &mut ws);
    let (t, z) = (Square::from(&t), Square::from(&z));
    is(
        info == 0 && z.adjoint().times(&z).is(&identity, T::EPSILON),
        "gees",
    )?;
    is(z.times(&t).times(&z.adjoint()).is(a, T::EPSILON), "gees")?;

    let (mut h, mut tau) = (a.to::<T>(), vec![T::ZERO; N - 1]);
    let mut ws = workspace(lapack::reduce_sizes(n))?;
    let info = lapack::gehrd(n, (1, n), &mut h, &mut tau, &mut ws);
    let h = Square::from(&h);
    is(
        info == 0 && (sum(&h) - sum(a)).l1_norm() <= UNITS * T::EPSILON,
        "gehrd",
    )?;

    let (mut x, mut left, mut right) = (a.to::<T>(), zeros(), zeros());
    let mut ws = workspace(lapack::geev_sizes::<T>((true, true), n))?;
    let info = lapack::geev(&mut x, (&mut w, &mut wi), (&mut left, &mut right), &mut ws);
    let values: Vec<C> = (0..N)
        .map(|i| {
            w[i].value()
                + wi.get(i)
                    .map_or(C::new(0.0, 0.0), |wi| C::new(0.0, wi.value().re))
        })
        .collect();
    let values = Square::diagonal(|i| values[i]);
    for (packed, x) in [(right, a.clone()), (left, a.adjoint())] {
        let mut vectors = vec![T::Complex::ZERO; N * N];
        lapack::unpack(&wi, &packed, &mut vectors);
        let vectors = unpacked::<T>(&vectors);
        // A left vector belongs to the conjugate value of the adjoint matrix.
        let values = if x.is(a, 0.0) {
            values.clone()
        } else {
            values.adjoint()
        };
        is(
            info == 0 && x.times(&vectors).is(&vectors.times(&values), T::EPSILON),
            "geev",
        )?;
        let length = vectors.0.iter().map(|v| v.norm_sqr()).sum::<f64>();
        is((length - N as f64).abs() <= UNITS * T::EPSILON, "geev")?;
    }
    Ok(())
}

fn unpacked<T: Tried>(vectors: &[T::Complex]) -> Square {
    let value = |v: &T::Complex| C::new(v.re_f64(), v.im_f64());
    Square(vectors.iter().map(value).collect())
}
