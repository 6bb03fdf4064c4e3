//! Singular values of a batch.

use super::SvdSolver;
use crate::platform::host::batch::{
    cost_in_lanes, for_each, for_each_run, run_length_of, split, Cost,
};
use crate::platform::host::{kernel_suits, workspace_sizes, Batch, HostScalar, UnwantedInfo};
use crate::platform::{Call, Results};
use lanes::svd::{Gesdd, BLOCKS, COMPLEX_BLOCKS, MOST};
use lapack::routines;
use lapack::{filled, refuse_negative, Padded, Sizes, Workspace, NOT_FINITE};
use matrices::{all_finite, fill_identity, Element, Vectors};
use xla_ffi::{AnyBuffer, Host, Result};

/// [`gesdd`] or a routine like it.
pub type Routine<T> = fn(Batch<'_>, Vectors, &mut [T], Triplets<'_, T>, &mut [i32]) -> Result<()>;

/// The singular values, left and right singular vectors of all matrices.
pub type Triplets<'a, T> = (&'a mut [<T as Element>::Real], &'a mut [T], &'a mut [T]);

/// The results of one matrix.
pub(super) struct Parts<'a, T: HostScalar> {
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
pub fn gesdd<T: HostScalar>(
    batch: Batch<'_>,
    vectors: Vectors,
    a: &mut [T],
    results: Triplets<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    if suits::<T>(batch) {
        return in_lanes(batch, vectors, a, results, info);
    }
    let matrices = split(a, batch.1.elements(), batch.1.count);
    let matrices = matrices.map(Operand::Changed);
    by_lapack(batch, vectors, matrices, 0, results, info)
}

/// As [`gesdd`], `a` being left as it is.
///
/// # Errors
/// As [`gesdd`].
pub fn gesdd_of<T: HostScalar>(
    batch: Batch<'_>,
    vectors: Vectors,
    a: &[T],
    results: Triplets<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    if suits::<T>(batch) {
        return in_lanes(batch, vectors, a, results, info);
    }
    let len = batch.1.elements();
    let matrices = (0..batch.1.count).map(|i| Operand::Kept(&a[i * len..][..len]));
    by_lapack(batch, vectors, matrices, len, results, info)
}

/// A matrix, which LAPACK overwrites: itself or a copy.
enum Operand<'a, T> {
    Changed(&'a mut [T]),
    Kept(&'a [T]),
}

impl<'a, T: HostScalar> Operand<'a, T> {
    fn ready<'b>(self, copy: &'b mut [T]) -> &'b mut [T]
    where
        'a: 'b,
    {
        match self {
            Operand::Changed(a) => a,
            Operand::Kept(a) => {
                copy.copy_from_slice(a);
                copy
            }
        }
    }
}

/// By LAPACK; `copy` is the length of a thread's room for a copy.
fn by_lapack<'a, T: HostScalar>(
    batch: Batch<'_>,
    vectors: Vectors,
    matrices: impl ExactSizeIterator<Item = Operand<'a, T>> + Send,
    copy: usize,
    (s, u, vt): Triplets<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    let (cx, shape) = batch;
    let sizes = sizes(batch, vectors, routines::gesdd_sizes::<T>)?;
    let Some(parts) = parts(batch, vectors, s, u, vt, info) else {
        return Ok(());
    };
    for_each(
        cx,
        Cost::of_spectrum(10.0 * shape.flops()),
        matrices.zip(parts),
        || Ok((Workspace::new(sizes)?, filled(copy, T::ZERO)?)),
        |(ws, copy), (a, parts)| {
            let rows = (shape.rows, vectors.counts(shape.rows, shape.cols).1);
            parts.fill("gesdd", rows, a.ready(copy), |a, s, factors| {
                routines::gesdd(vectors, (shape.rows, shape.cols), a, s, factors, ws)
            })
        },
    )
}

/// Whether the matrices are computed in lanes.
fn suits<T: HostScalar>((_, shape): Batch<'_>) -> bool {
    kernel_suits::<T>(shape, MOST) && !shape.is_empty()
}

/// As [`gesdd_of`], of matrices that [suit](suits).
///
/// # Errors
/// There is no memory to work in.
fn in_lanes<T: HostScalar>(
    (cx, shape): Batch<'_>,
    vectors: Vectors,
    a: &[T],
    (s, u, vt): Triplets<'_, T>,
    info: &mut [i32],
) -> Result<()> {
    let cost = cost_in_lanes(10.0 * shape.flops(), shape.elements());
    let (m, n, rank) = shape.sizes();
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    let blocks = if T::COMPLEX { COMPLEX_BLOCKS } else { BLOCKS };
    let run = run_length_of((cx, shape), blocks, cost);
    let count = shape.count.div_ceil(run);
    let runs = a
        .chunks(run * m * n)
        .zip(split(s, run * rank, count))
        .zip(split(u, run * m * columns as usize, count))
        .zip(split(vt, run * rows as usize * n, count))
        .zip(info.chunks_mut(run));
    for_each_run(
        (cx, shape),
        cost,
        runs,
        |((((a, s), u), vt), info), together| {
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
                    together,
                },
                count,
            )
        },
    )
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
    workspace_sizes(sizes, shape)
}

/// The results matrix by matrix; none where all that is to be done is done: a matrix without
/// elements has the first unit vectors for singular vectors.
pub(super) fn parts<'a, T: HostScalar>(
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
    if shape.is_empty() {
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

/// The factors as LAPACK computes them.
type Factors<'a, W> = (&'a mut [W], &'a mut [W]);

impl<T: HostScalar> Parts<'_, T> {
    /// Calls the routine if the matrix is finite; without success the results are NaN. `a` and
    /// `vt` have so many rows.
    pub(super) fn fill(
        self,
        name: &'static str,
        (rows, vt_rows): (i32, i32),
        a: &mut [T],
        routine: impl FnOnce(&mut [T], &mut [T::Real], Factors<'_, T>) -> i32,
    ) -> lapack::Result<()> {
        let Parts { s, u, vt, info } = self;
        *info = NOT_FINITE;
        if all_finite(a) {
            let mut a = Padded::new(a, rows)?;
            let mut vt = Padded::new(vt, vt_rows)?;
            *info = routine(&mut a, s, (u, &mut vt));
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

impl<T: HostScalar> SvdSolver<T> for Host {
    type Real = T::Real;

    fn svd(call: Call<'_, '_, Self>, a: &AnyBuffer<'_>, out: Results<'_, '_, 3>) -> Result<()> {
        let [u, s, vt] = out;
        let results = (
            s.as_mut_slice::<T::Real>()?,
            u.as_mut_slice::<T>()?,
            vt.as_mut_slice::<T>()?,
        );
        let mut info = UnwantedInfo::new(call.1)?;
        gesdd_of(
            (call.0, call.1),
            Vectors::Thin,
            a.as_slice::<T>()?,
            results,
            info.as_mut_slice(),
        )
    }
}
