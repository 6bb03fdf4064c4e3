//! Reductions, products with `Q` and tridiagonal systems of a batch.

use super::batch::{for_each, split};
use super::room::Roomy;
use super::routines::Reduce;
use super::workspace::{filled, Sizes, Workspace};
use super::{all_finite, reflect, refuse_negative, triangle_finite, Batch, Precision, Triangle};
use xla_ffi::Result;

fn sizes<T: Precision>(rows: i32, cols: i32) -> Result<Sizes> {
    Sizes::or_too_large(T::Work::reduce_sizes(rows.max(cols)), rows, cols)
}

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ`, in place of `c` (of the batch's shape); `a`
/// and `tau` hold `reflectors` columns and factors per matrix. NaN or an infinity in any of them
/// makes all of that `c` NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn ormqr<T: Precision>(
    (cx, shape): Batch<'_>,
    (left, adjoint): (bool, bool),
    (a, tau, reflectors): (&[T], &[T], usize),
    c: &mut [T],
) -> Result<()> {
    let sizes = sizes::<T>(shape.rows, shape.cols)?;
    if c.is_empty() || reflectors == 0 {
        return Ok(());
    }
    let order = if left { shape.rows } else { shape.cols } as usize;
    let items = a
        .chunks_exact(order * reflectors)
        .zip(tau.chunks_exact(reflectors))
        .zip(split(c, shape.elements(), shape.count));
    for_each(
        cx,
        4.0 * reflectors as f64 * shape.elements() as f64,
        items,
        || {
            let copy = filled(order * reflectors, T::ZERO)?;
            Ok((Workspace::new(sizes)?, copy, Vec::new()))
        },
        |(ws, copy, factors), ((a, tau), c)| {
            if !(all_finite(a) && all_finite(tau) && all_finite(c)) {
                c.fill(T::NAN);
                return Ok(());
            }
            // The routine writes to the reflectors on its way.
            copy.copy_from_slice(a);
            let (mut a, tau, mut c) = (T::stage(copy)?, T::read(tau, factors)?, T::stage(c)?);
            let shape = (shape.rows, shape.cols);
            let info = T::Work::ormqr((left, adjoint), shape, &mut a, tau, &mut c, ws);
            refuse_negative(info, "ormqr")
        },
    )
}

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`. Only the triangle is
/// read; one with NaN or an infinity gives NaN. `info` is 0.
///
/// # Errors
/// As [`ormqr`].
pub fn sytrd<T: Precision>(
    (cx, shape): Batch<'_>,
    triangle: Triangle,
    a: &mut [T],
    (d, e, tau): (&mut [T::Real], &mut [T::Real], &mut [T]),
    info: &mut [i32],
) -> Result<()> {
    let (n, count) = (shape.rows as usize, shape.count);
    let sizes = sizes::<T>(shape.rows, shape.cols)?;
    info.fill(0);
    if a.is_empty() {
        return Ok(());
    }
    let items = split(a, n * n, count)
        .zip(split(d, n, count))
        .zip(split(e, n - 1, count).zip(split(tau, n - 1, count)));
    for_each(
        cx,
        2.0 * shape.flops(),
        items,
        || Workspace::new(sizes),
        |ws, ((a, d), (e, tau))| {
            if !triangle_finite(a, n, triangle) {
                a.fill(T::NAN);
                d.fill(T::Real::NAN);
                e.fill(T::Real::NAN);
                tau.fill(T::NAN);
                return Ok(());
            }
            let (mut a, mut tau) = (T::stage(a)?, T::stage(tau)?);
            let (mut d, mut e) = (T::Real::stage(d)?, T::Real::stage(e)?);
            let mut a = Roomy::new(&mut a, shape.rows)?;
            let info = T::Work::sytrd(triangle, &mut a, &mut d, &mut e, &mut tau, ws);
            refuse_negative(info, "sytrd")
        },
    )
}

/// `Qᴴ A Q` of Hessenberg form, the reflectors below it and in `tau`; `range` are the first and last
/// row, counted from 1, outside of which it has that form already. A matrix with NaN or an infinity
/// becomes NaN. `info` is 0.
///
/// # Errors
/// As [`ormqr`].
pub fn gehrd<T: Precision>(
    (cx, shape): Batch<'_>,
    range: (i32, i32),
    a: &mut [T],
    tau: &mut [T],
    info: &mut [i32],
) -> Result<()> {
    let (n, count) = (shape.rows as usize, shape.count);
    let sizes = sizes::<T>(shape.rows, shape.cols)?;
    info.fill(0);
    if a.is_empty() {
        return Ok(());
    }
    let items = split(a, n * n, count).zip(split(tau, n - 1, count));
    for_each(
        cx,
        4.0 * shape.flops(),
        items,
        || Workspace::new(sizes),
        |ws, (a, tau)| {
            reflect("gehrd", a, tau, |a, tau| {
                T::Work::gehrd(shape.rows, range, a, tau, ws)
            })
        },
    )
}
