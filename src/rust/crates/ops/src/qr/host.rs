//! QR factorisation of a batch, and products with `Q`.

use super::QrSolver;
use crate::platform::host::batch::{cost_in_lanes, for_each, for_each_run, run_length_of, split};
use crate::platform::host::{kernel_suits, reflect, workspace_sizes, Batch, Changed, HostScalar};
use crate::platform::{Call, Results};
use lanes::Blocks;
use lapack::routines;
use lapack::{filled, refuse_negative, Workspace};
use matrices::{all_finite, fill_identity, Matrices};
use xla_ffi::{AnyBuffer, AnyBufferMut, Host, Result};

/// Sizes up to which matrices are computed one to a lane.
fn blocks<T: HostScalar>() -> Blocks {
    if T::COMPLEX {
        lanes::qr::COMPLEX_BLOCKS
    } else {
        lanes::qr::BLOCKS
    }
}

/// `A = Q R` in place: `R` on and above the diagonal, the reflectors of `Q` below it and in `tau`.
/// A matrix with NaN or an infinity becomes NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn geqrf<T: HostScalar>(
    (cx, shape): Batch<'_>,
    a: Changed<'_, T>,
    tau: &mut [T],
) -> Result<()> {
    let sizes = workspace_sizes(routines::qr_sizes(shape.cols), shape)?;
    if a.is_empty() {
        return Ok(());
    }
    let flops = 2.0 * shape.flops();
    if kernel_suits::<T>(shape, lanes::qr::MOST) {
        let cost = cost_in_lanes(flops, shape.elements());
        let run = run_length_of((cx, shape), blocks::<T>(), cost);
        let (m, n, rank) = shape.sizes();
        let runs = a.parts(run * m * n).zip(tau.chunks_mut(run * rank));
        return for_each_run((cx, shape), cost, runs, |(a, tau), together| {
            let count = tau.len() / rank;
            let kernel = lanes::qr::Geqrf {
                run: a.run(shape, together),
                tau,
            };
            T::in_lanes(kernel, count)
        });
    }
    let items = a
        .parts(shape.elements())
        .zip(split(tau, shape.rank() as usize, shape.count));
    let workspace = || Workspace::new(sizes);
    for_each(cx, flops, items, workspace, |ws, (a, tau)| {
        reflect("geqrf", a.ready(), tau, |a, tau| {
            routines::geqrf((shape.rows, shape.cols), a, tau, ws)
        })
    })
}

/// The columns of `Q` in place of the reflectors in `a`, whose `tau` has `reflectors` places per
/// matrix; `reflectors <= cols <= rows`. A matrix whose operands have NaN or an infinity becomes
/// NaN.
///
/// # Errors
/// As [`geqrf`].
pub fn orgqr<T: HostScalar>(
    (cx, shape): Batch<'_>,
    reflectors: usize,
    a: Changed<'_, T>,
    tau: &[T],
) -> Result<()> {
    let sizes = workspace_sizes(routines::qr_sizes(shape.cols), shape)?;
    if a.is_empty() {
        return Ok(());
    }
    if reflectors == 0 {
        fill_identity(a.ready(), shape.rows as usize, shape.cols as usize);
        return Ok(());
    }
    let flops = 2.0 * shape.flops();
    if kernel_suits::<T>(shape, lanes::qr::MOST) {
        let cost = cost_in_lanes(flops, shape.elements());
        let run = run_length_of((cx, shape), blocks::<T>(), cost);
        let (m, n, k) = (shape.rows as usize, shape.cols as usize, reflectors);
        let runs = a.parts(run * m * n).zip(tau.chunks(run * k));
        return for_each_run((cx, shape), cost, runs, |(a, tau), together| {
            let count = tau.len() / k;
            let kernel = lanes::qr::Orgqr {
                run: a.run(shape, together),
                k,
                tau,
            };
            T::in_lanes(kernel, count)
        });
    }
    let items = a.parts(shape.elements()).zip(tau.chunks_exact(reflectors));
    let workspace = || Workspace::new(sizes);
    for_each(cx, flops, items, workspace, |ws, (a, tau)| {
        let a = a.ready();
        let used = &a[..shape.rows as usize * reflectors];
        if !(all_finite(used) && all_finite(tau)) {
            a.fill(T::NAN);
            return Ok(());
        }
        let info = routines::orgqr((shape.rows, shape.cols), a, tau, ws);
        refuse_negative(info, "orgqr")
    })
}

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ`, in place of `c` (of the batch's shape); `a`
/// and `tau` hold `reflectors` columns and factors per matrix. NaN or an infinity in any of them
/// makes all of that `c` NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn ormqr<T: HostScalar>(
    (cx, shape): Batch<'_>,
    (left, adjoint): (bool, bool),
    (a, tau, reflectors): (&[T], &[T], usize),
    c: &mut [T],
) -> Result<()> {
    let sizes = routines::reduce_sizes(shape.rows.max(shape.cols));
    let sizes = workspace_sizes(sizes, shape)?;
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
            Ok((Workspace::new(sizes)?, copy))
        },
        |(ws, copy), ((a, tau), c)| {
            if !(all_finite(a) && all_finite(tau) && all_finite(c)) {
                c.fill(T::NAN);
                return Ok(());
            }
            // The routine writes to the reflectors on its way.
            copy.copy_from_slice(a);
            let shape = (shape.rows, shape.cols);
            let info = routines::ormqr((left, adjoint), shape, copy, tau, c, ws);
            refuse_negative(info, "ormqr")
        },
    )
}

impl<T: HostScalar> QrSolver<T> for Host {
    fn geqrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        [packed, tau]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let a = Changed::<T>::new(a, packed)?;
        geqrf((call.0, call.1), a, tau.as_mut_slice()?)
    }

    fn copy_columns(
        call: Call<'_, '_, Self>,
        cols: i32,
        from: &AnyBuffer<'_>,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let shape = call.1;
        let part = Matrices { cols, ..shape };
        if part.elements() == 0 {
            return Ok(());
        }
        let from = from.as_slice::<T>()?.chunks_exact(shape.elements());
        let to = to.as_mut_slice::<T>()?.chunks_exact_mut(part.elements());
        to.zip(from)
            .for_each(|(to, from)| to.copy_from_slice(&from[..part.elements()]));
        Ok(())
    }

    fn orgqr(
        call: Call<'_, '_, Self>,
        reflectors: usize,
        (packed, tau): (Option<&AnyBuffer<'_>>, &AnyBuffer<'_>),
        q: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let a = match packed {
            Some(packed) => Changed::<T>::new(packed, q)?,
            None => Changed::in_place(q.as_mut_slice()?),
        };
        orgqr((call.0, call.1), reflectors, a, tau.as_slice()?)
    }
}
