//! What a library must get right before it is used: each routine on a small matrix, in each dtype.
//! (A library with 64-bit integers fails everything.)

use super::Library;
use crate::routines as lapack;
use crate::sys::{Int, Routines};
use crate::workspace::{Sizes, Workspace};
use matrices::{Complex, Element, Form, Transpose, Triangle, Vectors};
use std::array::from_fn;

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
    let failed = |letter| move |routine| format!("computes {letter}{routine} wrongly");
    dtype::<f32>().map_err(failed("s"))?;
    dtype::<f64>().map_err(failed("d"))?;
    dtype::<Complex<f32>>().map_err(failed("c"))?;
    dtype::<Complex<f64>>().map_err(failed("z"))
}

/// The routine that failed, if one did.
type Tries = Result<(), &'static str>;

fn is(right: bool, routine: &'static str) -> Tries {
    right.then_some(()).ok_or(routine)
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

/// A square matrix, by columns. Its functions are compiled once, not for each use.
#[derive(Clone, Copy)]
struct Square([C; N * N]);

impl Square {
    #[inline(never)]
    fn of(f: &dyn Fn(usize, usize) -> C) -> Self {
        Square(from_fn(|k| f(k % N, k / N)))
    }

    #[inline(never)]
    fn from<T: Tried>(values: &[T; N * N]) -> Self {
        Square(values.map(T::value))
    }

    #[inline(never)]
    fn to<T: Tried>(&self) -> [T; N * N] {
        self.0.map(T::of)
    }

    fn at(&self, i: usize, j: usize) -> C {
        self.0[i + j * N]
    }

    #[inline(never)]
    fn diagonal(values: &[C; N]) -> Self {
        Self::of(&|i, j| if i == j { values[i] } else { C::new(0.0, 0.0) })
    }

    #[inline(never)]
    fn times(&self, other: &Self) -> Self {
        Self::of(&|i, j| (0..N).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    #[inline(never)]
    fn transposed(&self) -> Self {
        Self::of(&|i, j| self.at(j, i))
    }

    #[inline(never)]
    fn adjoint(&self) -> Self {
        Self::of(&|i, j| self.at(j, i).conj())
    }

    fn trace(&self) -> C {
        (0..N).map(|i| self.at(i, i)).sum()
    }

    fn squares(&self) -> f64 {
        self.0.iter().map(|x| x.norm_sqr()).sum()
    }

    /// The triangle, with ones on the diagonal if `unit`.
    #[inline(never)]
    fn triangle(&self, triangle: Triangle, unit: bool) -> Self {
        Self::of(&|i, j| {
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
    #[inline(never)]
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

fn workspace<T: Routines>(
    sizes: Option<Sizes>,
    routine: &'static str,
) -> Result<Workspace<T>, &'static str> {
    let sizes = sizes.ok_or(routine)?;
    Workspace::new(sizes).map_err(|_| routine)
}

fn dtype<T: Tried>() -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let zeros = || [T::ZERO; N * N];
    let places = || [T::ZERO; N];
    // Rounded to the dtype, and not singular.
    let a = Square::from(
        &Square::of(&|i, j| {
            let k = i * N + j;
            let strong = if i == j { 3.0 } else { 0.0 };
            C::new(number(k) + strong, number(k + 100))
        })
        .to::<T>(),
    );
    let identity = Square::diagonal(&[C::new(1.0, 0.0); N]);
    let hermitian = Square::of(&|i, j| (a.at(i, j) + a.at(j, i).conj()) * 0.5);
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

    let mut ws = workspace(lapack::reduce_sizes(n), "geqrf")?;
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
        &mut { packed },
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

    let mut ws = workspace(lapack::geqp3_sizes(n), "geqp3")?;
    let (mut packed, mut order, mut tau) = (a.to::<T>(), [0; N], places());
    let info = lapack::geqp3((n, n), &mut packed, &mut order, &mut tau, &mut ws);
    is(
        info == 0 && order.iter().all(|j| (1..=n).contains(j)),
        "geqp3",
    )?;
    let r = Square::from(&packed).triangle(Triangle::Upper, false);
    let permuted = Square::of(&|i, j| a.at(i, order[j] as usize - 1));
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
        triangular::<T>(triangle, &a)?;
    }

    let (mut dl, mut du, mut x) = ([T::ONE; N - 1], [T::ONE; N - 1], a.to::<T>());
    let mut d = [T::of(C::new(4.0, 0.0)); N];
    let info = lapack::gtsv(&mut dl, &mut d, &mut du, &mut x);
    let band = Square::of(&|i, j| C::new([4.0, 1.0, 0.0][i.abs_diff(j).min(2)], 0.0));
    is(
        info == 0 && band.times(&Square::from(&x)).is(&a, epsilon),
        "gtsv",
    )?;

    let real =
        |values: &[T::Real; N]| Square::diagonal(&values.map(|value| C::new(value.re_f64(), 0.0)));
    let real_places = || [T::Real::ZERO; N];
    for divide in [true, false] {
        let (mut left, mut s, mut u, mut vt) = (a.to::<T>(), real_places(), zeros(), zeros());
        let factors = (&mut u[..], &mut vt[..]);
        let info = if divide {
            let mut ws = workspace(lapack::gesdd_sizes::<T>(Vectors::Thin, n, n), "gesdd")?;
            lapack::gesdd(Vectors::Thin, (n, n), &mut left, &mut s, factors, &mut ws)
        } else {
            let mut ws = workspace(lapack::gesvd_sizes::<T>(Vectors::Thin, n, n), "gesvd")?;
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
        let mut ws = workspace(lapack::syevd_sizes::<T>(true, n), "syevd")?;
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
        let mut ws = workspace(lapack::reduce_sizes(n), "geqrf")?;
        let factors = (&mut d[..], &mut e[..N - 1], &mut tau[..N - 1]);
        let info = lapack::sytrd(triangle, &mut x, factors, &mut ws);
        let (d, e) = (real(&d), real(&e));
        let kept = (d.trace() - hermitian.trace()).l1_norm()
            + (d.squares() + 2.0 * e.squares() - hermitian.squares()).abs();
        is(info == 0 && kept <= 10.0 * UNITS * epsilon, "sytrd")?;
    }

    spectra::<T>(&a)
}

/// All forms of triangular systems.
fn triangular<T: Tried>(triangle: Triangle, a: &Square) -> Tries {
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
            is(
                info == 0 && product.is(&a.transposed(), 100.0 * T::EPSILON),
                "trsm",
            )?;
        }
    }
    Ok(())
}

/// What eigenvalues of general matrices are made of.
fn spectra<T: Tried>(a: &Square) -> Tries {
    let n = N as Int;
    // Complex matrices have no second part.
    let parts = if T::COMPLEX { 0 } else { N };
    let zeros = || [T::ZERO; N * N];
    let identity = Square::diagonal(&[C::new(1.0, 0.0); N]);

    let (mut t, mut w, mut wi, mut z) = (a.to::<T>(), [T::ZERO; N], [T::ZERO; N], zeros());
    let mut ws = workspace(lapack::gees_sizes::<T>(true, n), "gees")?;
    let info = lapack::gees(&mut t, (&mut w, &mut wi[..parts]), &mut z, &mut ws);
    let (t, z) = (Square::from(&t), Square::from(&z));
    is(
        info == 0 && z.adjoint().times(&z).is(&identity, T::EPSILON),
        "gees",
    )?;
    is(z.times(&t).times(&z.adjoint()).is(a, T::EPSILON), "gees")?;

    let (mut h, mut tau) = (a.to::<T>(), [T::ZERO; N - 1]);
    let mut ws = workspace(lapack::reduce_sizes(n), "geqrf")?;
    let info = lapack::gehrd(n, (1, n), &mut h, &mut tau, &mut ws);
    let h = Square::from(&h);
    is(
        info == 0 && (h.trace() - a.trace()).l1_norm() <= UNITS * T::EPSILON,
        "gehrd",
    )?;

    let (mut x, mut left, mut right) = (a.to::<T>(), zeros(), zeros());
    let mut ws = workspace(lapack::geev_sizes::<T>((true, true), n), "geev")?;
    let info = lapack::geev(
        &mut x,
        (&mut w, &mut wi[..parts]),
        (&mut left, &mut right),
        &mut ws,
    );
    let imaginary = |i: usize| if T::COMPLEX { 0.0 } else { wi[i].re_f64() };
    let values = Square::diagonal(&from_fn(|i| w[i].value() + C::new(0.0, imaginary(i))));
    // A left vector belongs to the conjugate value of the adjoint matrix.
    let sides = [(right, *a, values), (left, a.adjoint(), values.adjoint())];
    for (packed, x, values) in sides {
        let mut vectors = [T::Complex::ZERO; N * N];
        lapack::unpack(&wi[..N], &packed, &mut vectors);
        let vectors = Square(vectors.map(|v| C::new(v.re_f64(), v.im_f64())));
        is(
            info == 0 && x.times(&vectors).is(&vectors.times(&values), T::EPSILON),
            "geev",
        )?;
        let length = vectors.squares() - N as f64;
        is(length.abs() <= UNITS * T::EPSILON, "geev")?;
    }
    Ok(())
}
