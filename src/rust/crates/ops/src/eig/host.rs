//! Eigenvalues of a batch of general matrices.

use crate::platform::host::batch::{for_each, split};
use crate::platform::host::{workspace_sizes, Batch, HostScalar};
use lapack::routines;
use lapack::{filled, refuse_negative, Workspace, NOT_FINITE};
use matrices::{all_finite, drop_tiny, Element};
use xla_ffi::Result;

/// The eigenvalues of each of the matrices in `x`: in `w` those of complex matrices (`wi` is empty),
/// in `w` and `wi` the parts of those of real ones; and as columns of `vl` and `vr`, unless they are
/// empty, the left and right eigenvectors. `info` is 0, -4 for a matrix with NaN or an infinity,
/// positive where it did not converge; in both cases the results are NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn geev<T: HostScalar>(
    (cx, shape): Batch<'_>,
    x: &[T],
    (w, wi): (&mut [T], &mut [T]),
    (vl, vr): (&mut [T::Complex], &mut [T::Complex]),
    info: &mut [i32],
) -> Result<()> {
    let (n, count) = (shape.rows, shape.count);
    if n == 0 {
        info.fill(0);
        return Ok(());
    }
    let wanted = (!vl.is_empty(), !vr.is_empty());
    let sizes = workspace_sizes(routines::geev_sizes::<T>(wanted, n), shape)?;
    let [left, right, parts] = [vl.len(), vr.len(), wi.len()].map(|len| len / count.max(1));
    let items = x
        .chunks_exact(shape.elements())
        .zip(split(w, n as usize, count).zip(split(wi, parts, count)))
        .zip(split(vl, left, count).zip(split(vr, right, count)))
        .zip(info);
    let zeros = |len| filled(len, T::ZERO);
    for_each(
        cx,
        10.0 * shape.flops(),
        items,
        || {
            let copies = [zeros(shape.elements())?, zeros(left)?, zeros(right)?];
            Ok((Workspace::new(sizes)?, copies))
        },
        |(ws, [a, packed_left, packed_right]), (((x, (w, wi)), (vl, vr)), info)| {
            *info = NOT_FINITE;
            if all_finite(x) {
                a.copy_from_slice(x);
                drop_tiny(a);
                let packed = (&mut packed_left[..], &mut packed_right[..]);
                *info = routines::geev(a, (w, wi), packed, ws);
                refuse_negative(*info, "geev")?;
                routines::unpack(wi, packed_left, vl);
                routines::unpack(wi, packed_right, vr);
            }
            if *info != 0 {
                w.fill(T::NAN);
                wi.fill(T::NAN);
                vl.fill(T::Complex::NAN);
                vr.fill(T::Complex::NAN);
            }
            Ok(())
        },
    )
}
