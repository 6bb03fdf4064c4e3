//! Singular values, eigenvalues, and reductions on the way to them.

use super::square::{is, workspace, Square, Tried, Tries, C, N, UNITS};
use crate::int::Int;
use crate::routines as lapack;
use matrices::{Element, Triangle, Vectors};
use std::array::from_fn;

/// Real numbers on the diagonal.
fn real<T: Tried>(values: &[T::Real; N]) -> Square {
    Square::diagonal(&values.map(|value| C::new(value.re_f64(), 0.0)))
}

/// Singular values, by both routines.
pub(super) fn singular_values<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let identity = Square::identity();
    for divide in [true, false] {
        let (mut left, mut s, mut u, mut vt) = (
            a.to::<T>(),
            [T::Real::ZERO; N],
            [T::ZERO; N * N],
            [T::ZERO; N * N],
        );
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
        is(u.times(&real::<T>(&s)).times(&vt).is(a, epsilon), routine)?;
    }
    Ok(())
}

/// Eigenvalues and tridiagonal form of the Hermitian part of `a`.
pub(super) fn hermitian<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let identity = Square::identity();
    let hermitian = Square::of(&|i, j| (a.at(i, j) + a.at(j, i).conj()) * 0.5);
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let (mut v, mut w) = (hermitian.to::<T>(), [T::Real::ZERO; N]);
        let mut ws = workspace(lapack::syevd_sizes::<T>(true, n), "syevd")?;
        let info = lapack::syevd(true, triangle, &mut v, &mut w, &mut ws);
        let v = Square::from(&v);
        is(
            info == 0 && v.adjoint().times(&v).is(&identity, epsilon),
            "syevd",
        )?;
        is(
            v.times(&real::<T>(&w))
                .times(&v.adjoint())
                .is(&hermitian, epsilon),
            "syevd",
        )?;

        let (mut x, mut d, mut e, mut tau) = (
            hermitian.to::<T>(),
            [T::Real::ZERO; N],
            [T::Real::ZERO; N],
            [T::ZERO; N],
        );
        let mut ws = workspace(lapack::reduce_sizes(n), "geqrf")?;
        let factors = (&mut d[..], &mut e[..N - 1], &mut tau[..N - 1]);
        let info = lapack::sytrd(triangle, &mut x, factors, &mut ws);
        let (d, e) = (real::<T>(&d), real::<T>(&e));
        let kept = (d.trace() - hermitian.trace()).l1_norm()
            + (d.squares() + 2.0 * e.squares() - hermitian.squares()).abs();
        is(info == 0 && kept <= 10.0 * UNITS * epsilon, "sytrd")?;
    }
    Ok(())
}

/// What eigenvalues of general matrices are made of.
pub(super) fn general<T: Tried>(a: &Square) -> Tries {
    let n = N as Int;
    // Complex matrices have no second part.
    let parts = if T::COMPLEX { 0 } else { N };
    let zeros = || [T::ZERO; N * N];
    let identity = Square::identity();

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
