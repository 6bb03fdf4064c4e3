//! Singular values of a batch.

use super::batch::{for_each, for_each_run, run_length, split};
use super::routines::{Element, Svd};
use super::small::svd::{Gesdd, MOST};
use super::workspace::{filled, Sizes, Workspace};
use super::{
    all_finite, fill_identity, refuse_negative, small, Batch, Precision, Vectors, NOT_FINITE,
};
use xla_ffi::Result;

/// [`gesdd`] or a routine like it.
pub type Routine<T> = fn(
    Batch<'_>,
    Vectors,
    &mut [T],
    (&mut [<T as Precision>::Real], &mut [T], &mut [T]),
    &mut [i32],
) -> Result<()>;

/// The singular values, left and right singular vectors of all matrices.
type Results<'a, T> = (&'a mut [<T as Precision>::Real], &'a mut [T], &'a mut [T]);

/// The results of one matrix.
pub(super) struct Parts<'a, T: Precision> {
    s: &'a mut [T::Real],
    u: &'a mut [T],
    vt: &'a mut [T],
    info: &'a mut i32,
}

/// `A = U diag(s) Vᴴ`, `s` descending; `a` is overwritten. `info` is 0, -4 for a matrix with NaN or
/// an infinity, positive where it did not converge; in both cases the results are NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn gesdd<T: Precision>(
    batch: Batch<'_>,
    vectors: Vectors,
    a: &mut [T],
    (s, u, vt): Results<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    let (cx, shape) = batch;
    if suits::<T>(batch) {
        in_lanes(batch, vectors, a, (s, u, vt), info);
        return Ok(());
    }
    let sizes = sizes(batch, vectors, T::Work::gesdd_sizes)?;
    let Some(parts) = parts(batch, vectors, s, u, vt, info) else {
        return Ok(());
    };
    for_each(
        cx,
        10.0 * shape.flops(),
        split(a, shape.elements(), shape.count).zip(parts),
        || Workspace::new(sizes),
        |ws, (a, parts)| decompose(batch, vectors, a, parts, ws),
    )
}

/// As [`gesdd`], `a` being left as it is.
///
/// # Errors
/// As [`gesdd`].
pub fn gesdd_of<T: Precision>(
    batch: Batch<'_>,
    vectors: Vectors,
    a: &[T],
    (s, u, vt): Results<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    let (cx, shape) = batch;
    if suits::<T>(batch) {
        in_lanes(batch, vectors, a, (s, u, vt), info);
        return Ok(());
    }
    let sizes = sizes(batch, vectors, T::Work::gesdd_sizes)?;
    let Some(parts) = parts(batch, vectors, s, u, vt, info) else {
        return Ok(());
    };
    for_each(
        cx,
        10.0 * shape.flops(),
        a.chunks_exact(shape.elements()).zip(parts),
        || Ok((Workspace::new(sizes)?, filled(shape.elements(), T::ZERO)?)),
        |(ws, copy), (a, parts)| {
            copy.copy_from_slice(a);
            decompose(batch, vectors, copy, parts, ws)
        },
    )
}

/// Whether the matrices are computed in lanes.
fn suits<T: Precision>((_, shape): Batch<'_>) -> bool {
    small::suits::<T>(shape, MOST) && shape.rank() > 0 && shape.count > 0
}

/// As [`gesdd_of`], of matrices that [suit](suits).
fn in_lanes<T: Precision>(
    (cx, shape): Batch<'_>,
    vectors: Vectors,
    a: &[T],
    (s, u, vt): Results<'_, T>,
    info: &mut [i32],
) {
    let flops = 10.0 * shape.flops();
    let (m, n, rank) = shape.sizes();
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    let run = run_length(flops);
    let count = shape.count.div_ceil(run);
    let runs = a
        .chunks(run * m * n)
        .zip(split(s, run * rank, count))
        .zip(split(u, run * m * columns as usize, count))
        .zip(split(vt, run * rows as usize * n, count))
        .zip(info.chunks_mut(run));
    let flops = flops * shape.count as f64;
    for_each_run(cx, flops, runs, |((((a, s), u), vt), info)| {
        let count = info.len();
        T::in_lanes(
            Gesdd {
                m,
                n,
                vectors,
                a,
                s,
                u,
                vt,
                info,
            },
            count,
        );
    });
}

/// The workspace by a routine's own `sizes`, which a matrix without elements does not need.
pub(super) fn sizes(
    (_, shape): Batch<'_>,
    vectors: Vectors,
    sizes: fn(Vectors, i32, i32) -> Option<Sizes>,
) -> Result<Sizes> {
    let sizes = if shape.rank() == 0 {
        Some(Sizes::default())
    } else {
        sizes(vectors, shape.rows, shape.cols)
    };
    Sizes::or_too_large(sizes, shape.rows, shape.cols)
}

/// The results matrix by matrix; none where all that is to be done is done: a matrix without
/// elements has the first unit vectors for singular vectors.
pub(super) fn parts<'a, T: Precision>(
    (_, shape): Batch<'_>,
    vectors: Vectors,
    s: &'a mut [T::Real],
    u: &'a mut [T],
    vt: &'a mut [T],
    info: &'a mut [i32],
) -> Option<impl ExactSizeIterator<Item = Parts<'a, T>> + Send> {
    let (m, n, count) = (shape.rows as usize, shape.cols as usize, shape.count);
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    let (columns, rows) = (columns as usize, rows as usize);
    if shape.rank() == 0 || count == 0 {
        if vectors != Vectors::No {
            fill_identity(u, m, columns);
            fill_identity(vt, rows, n);
        }
        info.fill(0);
        return None;
    }
    let parts = split(s, m.min(n), count)
        .zip(split(u, m * columns, count))
        .zip(split(vt, rows * n, count))
        .zip(info);
    Some(parts.map(|(((s, u), vt), info)| Parts { s, u, vt, info }))
}

fn decompose<T: Precision>(
    (_, shape): Batch<'_>,
    vectors: Vectors,
    a: &mut [T],
    parts: Parts<'_, T>,
    ws: &mut Workspace<T::Work>,
) -> Result<()> {
    let shape = (shape.rows, shape.cols);
    parts.fill("gesdd", a, |a, s, (u, vt)| {
        T::Work::gesdd(vectors, shape, a, s, u, vt, ws)
    })
}

/// The factors as LAPACK computes them.
type Factors<'a, W> = (&'a mut [W], &'a mut [W]);

impl<T: Precision> Parts<'_, T> {
    /// Calls the routine if the matrix is finite; without success the results are NaN.
    pub(super) fn fill(
        self,
        name: &str,
        a: &mut [T],
        routine: impl FnOnce(
            &mut [T::Work],
            &mut [<T::Work as Element>::Real],
            Factors<'_, T::Work>,
        ) -> i32,
    ) -> Result<()> {
        let Parts { s, u, vt, info } = self;
        *info = NOT_FINITE;
        if all_finite(a) {
            let (mut a, mut s) = (T::stage(a)?, T::Real::stage(s)?);
            let (mut u, mut vt) = (T::stage(u)?, T::stage(vt)?);
            *info = routine(&mut a, &mut s, (&mut u, &mut vt));
            // Newer versions look for NaN themselves, in what they were given and on the way.
            if *info != NOT_FINITE {
                refuse_negative(*info, name)?;
            }
        }
        if *info != 0 {
            s.fill(T::Real::NAN);
            u.fill(T::NAN);
            vt.fill(T::NAN);
        }
        Ok(())
    }
}
