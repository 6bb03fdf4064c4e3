//! Factorisations and systems.

use super::square::{is, workspace, Square, Tried, Tries, C, N};
use crate::int::Int;
use crate::routines as lapack;
use matrices::{Form, Transpose, Triangle};

/// LU factorisation.
pub(super) fn lu<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
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
    is(product.is(a, epsilon), "getrf")?;
    Ok(())
}

/// QR factorisation, and both uses of its reflectors.
pub(super) fn qr<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let identity = Square::identity();
    let mut ws = workspace(lapack::reduce_sizes(n), "geqrf")?;
    let (mut packed, mut tau) = (a.to::<T>(), [T::ZERO; N]);
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
    is(info == 0 && Square::from(&applied).is(a, epsilon), "ormqr")?;
    let info = lapack::orgqr((n, n), &mut packed, &tau, &mut ws);
    let q = Square::from(&packed);
    is(
        info == 0 && q.adjoint().times(&q).is(&identity, epsilon),
        "orgqr",
    )?;
    is(q.times(&r).is(a, epsilon), "geqrf")?;
    Ok(())
}

/// QR factorisation with pivots.
pub(super) fn pivoted<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let mut ws = workspace(lapack::geqp3_sizes(n), "geqp3")?;
    let (mut packed, mut order, mut tau) = (a.to::<T>(), [0; N], [T::ZERO; N]);
    let info = lapack::geqp3((n, n), &mut packed, &mut order, &mut tau, &mut ws);
    is(
        info == 0 && order.iter().all(|j| (1..=n).contains(j)),
        "geqp3",
    )?;
    let r = Square::from(&packed).triangle(Triangle::Upper, false);
    let permuted = Square::of(&|i, j| a.at(i, order[j] as usize - 1));
    let squares = (permuted.adjoint().times(&permuted), r.adjoint().times(&r));
    is(squares.0.is(&squares.1, 10.0 * epsilon), "geqp3")?;
    Ok(())
}

/// Cholesky factorisation of `a aᴴ`, and systems of the triangles of `a`.
pub(super) fn triangles<T: Tried>(a: &Square) -> Tries {
    let (n, epsilon) = (N as Int, T::EPSILON);
    let regular = a.times(&a.adjoint());
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let mut factor = regular.to::<T>();
        let info = lapack::potrf(triangle, n, &mut factor);
        let factor = Square::from(&factor).triangle(triangle, false);
        let product = match triangle {
            Triangle::Lower => factor.times(&factor.adjoint()),
            Triangle::Upper => factor.adjoint().times(&factor),
        };
        is(info == 0 && product.is(&regular, 10.0 * epsilon), "potrf")?;
        triangular::<T>(triangle, a)?;
    }
    Ok(())
}

/// Tridiagonal systems.
pub(super) fn tridiagonal<T: Tried>(a: &Square) -> Tries {
    let epsilon = T::EPSILON;
    let (mut dl, mut du, mut x) = ([T::ONE; N - 1], [T::ONE; N - 1], a.to::<T>());
    let mut d = [T::of(C::new(4.0, 0.0)); N];
    let info = lapack::gtsv(&mut dl, &mut d, &mut du, &mut x);
    let band = Square::of(&|i, j| C::new([4.0, 1.0, 0.0][i.abs_diff(j).min(2)], 0.0));
    is(
        info == 0 && band.times(&Square::from(&x)).is(a, epsilon),
        "gtsv",
    )?;
    Ok(())
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
