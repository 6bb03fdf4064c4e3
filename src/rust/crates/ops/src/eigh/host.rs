//! Eigenvalues of a batch of Hermitian matrices.

use super::EighSolver;
use crate::platform::host::batch::{
    cost_in_lanes, for_each, for_each_run, run_length_of, split, Cost,
};
use crate::platform::host::{
    kernel_suits, workspace_sizes, Batch, Changed, HostScalar, UnwantedInfo,
};
use crate::platform::{Call, Results};
use lanes::eigh::{Syevd, BLOCKS, COMPLEX_BLOCKS, MOST, NOT_FINITE};
use lapack::routines;
use lapack::{refuse_negative, Padded, Workspace};
use matrices::{triangle_finite, Element, Triangle};
use xla_ffi::{AnyBuffer, Host, Result};

/// `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V` if `vectors`, else anything. Only the triangle
/// is read. `info` is 0, or positive where it did not converge or the triangle has NaN or an
/// infinity; then the results are NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn syevd<T: HostScalar>(
    (cx, shape): Batch<'_>,
    vectors: bool,
    triangle: Triangle,
    a: &mut [T],
    w: &mut [T::Real],
    info: &mut [i32],
) -> Result<()> {
    let n = shape.rows;
    let sizes = workspace_sizes(routines::syevd_sizes::<T>(vectors, n), shape)?;
    if a.is_empty() {
        info.fill(0);
        return Ok(());
    }
    let flops = 5.0 * shape.flops();
    if kernel_suits::<T>(shape, MOST) {
        let cost = cost_in_lanes(flops, shape.elements());
        let blocks = if T::COMPLEX { COMPLEX_BLOCKS } else { BLOCKS };
        let (n, run) = (n as usize, run_length_of((cx, shape), blocks, cost));
        let runs = a
            .chunks_mut(run * n * n)
            .zip(w.chunks_mut(run * n))
            .zip(info.chunks_mut(run));
        return for_each_run((cx, shape), cost, runs, |((a, w), info), together| {
            let count = info.len();
            T::in_lanes(
                Syevd {
                    n,
                    vectors,
                    triangle,
                    a,
                    w,
                    info,
                    together,
                },
                count,
            )
        });
    }
    let items = split(a, shape.elements(), shape.count)
        .zip(split(w, n as usize, shape.count))
        .zip(info);
    let workspace = || Workspace::new(sizes);
    let cost = Cost::of_spectrum(flops);
    for_each(cx, cost, items, workspace, |ws, ((a, w), info)| {
        *info = NOT_FINITE;
        if triangle_finite(a, n as usize, triangle) {
            let mut a = Padded::new(a, n)?;
            *info = routines::syevd(vectors, triangle, &mut a, w, ws);
            refuse_negative(*info, "syevd")?;
        }
        if *info != 0 {
            a.fill(T::NAN);
            w.fill(T::Real::NAN);
        }
        Ok(())
    })
}

impl<T: HostScalar> EighSolver<T> for Host {
    type Real = T::Real;

    fn eigh(
        call: Call<'_, '_, Self>,
        (a, uplo): (&AnyBuffer<'_>, Triangle),
        [v, w]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let (a, w) = (Changed::<T>::new(a, v)?.ready(), w.as_mut_slice()?);
        let mut info = UnwantedInfo::new(call.1)?;
        syevd((call.0, call.1), true, uplo, a, w, info.as_mut_slice())
    }
}
