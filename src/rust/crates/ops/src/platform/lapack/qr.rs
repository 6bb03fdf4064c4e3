//! QR factorisation of a batch.

use super::batch::{for_each, for_each_run, run_length, split};
use super::routines::Qr;
use super::workspace::{Sizes, Workspace};
use super::{
    all_finite, fill_identity, reflect, refuse_negative, small, Batch, Changed, Precision,
};
use xla_ffi::Result;

/// `A = Q R` in place: `R` on and above the diagonal, the reflectors of `Q` below it and in `tau`.
/// A matrix with NaN or an infinity becomes NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn geqrf<T: Precision>((cx, shape): Batch<'_>, a: Changed<'_, T>, tau: &mut [T]) -> Result<()> {
    let sizes = Sizes::or_too_large(T::Work::qr_sizes(shape.cols), shape.rows, shape.cols)?;
    if a.is_empty() {
        return Ok(());
    }
    let flops = 2.0 * shape.flops();
    if small::suits::<T>(shape, small::qr::MOST) {
        let run = run_length(flops);
        let (m, n, rank) = shape.sizes();
        let runs = a.parts(run * m * n).zip(tau.chunks_mut(run * rank));
        for_each_run(cx, flops * shape.count as f64, runs, |(a, tau)| {
            let (a, count) = (a.ready(), tau.len() / rank);
            T::in_lanes(small::qr::Geqrf { m, n, a, tau }, count);
        });
        return Ok(());
    }
    let items = a
        .parts(shape.elements())
        .zip(split(tau, shape.rank() as usize, shape.count));
    for_each(
        cx,
        flops,
        items,
        || Workspace::new(sizes),
        |ws, (a, tau)| {
            reflect("geqrf", a.ready(), tau, |a, tau| {
                T::Work::geqrf(shape.rows, shape.cols, a, tau, ws)
            })
        },
    )
}

/// The columns of `Q` in place of the reflectors in `a`, whose `tau` has `reflectors` places per
/// matrix; `reflectors <= cols <= rows`. A matrix whose operands have NaN or an infinity becomes
/// NaN.
///
/// # Errors
/// As [`geqrf`].
pub fn orgqr<T: Precision>(
    (cx, shape): Batch<'_>,
    reflectors: usize,
    a: Changed<'_, T>,
    tau: &[T],
) -> Result<()> {
    let sizes = Sizes::or_too_large(T::Work::qr_sizes(shape.cols), shape.rows, shape.cols)?;
    if a.is_empty() {
        return Ok(());
    }
    if reflectors == 0 {
        fill_identity(a.ready(), shape.rows as usize, shape.cols as usize);
        return Ok(());
    }
    let flops = 2.0 * shape.flops();
    if small::suits::<T>(shape, small::qr::MOST) {
        let run = run_length(flops);
        let (m, n, k) = (shape.rows as usize, shape.cols as usize, reflectors);
        let runs = a.parts(run * m * n).zip(tau.chunks(run * k));
        for_each_run(cx, flops * shape.count as f64, runs, |(a, tau)| {
            let (a, count) = (a.ready(), tau.len() / k);
            T::in_lanes(small::qr::Orgqr { m, n, k, a, tau }, count);
        });
        return Ok(());
    }
    let items = a.parts(shape.elements()).zip(tau.chunks_exact(reflectors));
    for_each(
        cx,
        flops,
        items,
        || Ok((Workspace::new(sizes)?, Vec::new())),
        |(ws, factors), (a, tau)| {
            let a = a.ready();
            let used = &a[..shape.rows as usize * reflectors];
            if !(all_finite(used) && all_finite(tau)) {
                a.fill(T::NAN);
                return Ok(());
            }
            let (mut a, tau) = (T::stage(a)?, T::read(tau, factors)?);
            let info = T::Work::orgqr(shape.rows, shape.cols, &mut a, tau, ws);
            refuse_negative(info, "orgqr")
        },
    )
}
