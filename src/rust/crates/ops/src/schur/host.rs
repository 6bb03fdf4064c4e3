//! Schur form of a batch.

use crate::platform::host::batch::{for_each, split};
use crate::platform::host::{workspace_sizes, Batch, HostScalar};
use lapack::routines;
use lapack::{refuse_negative, Workspace};
use matrices::{all_finite, drop_tiny};
use xla_ffi::Result;

/// `A = Z T Zᴴ`, `T` in place of `a` and `Z`, unless it is empty, in `z`; the eigenvalues in `w` (of
/// complex matrices, `wi` being empty) or their parts in `w` and `wi`. `info` is 0, or positive where it
/// did not converge (the order, if the matrix has NaN or an infinity); then the results are NaN.
///
/// # Errors
/// The matrices are too large for LAPACK's integers; there is no memory to work in.
pub fn gees<T: HostScalar>(
    (cx, shape): Batch<'_>,
    a: &mut [T],
    z: &mut [T],
    (w, wi): (&mut [T], &mut [T]),
    info: &mut [i32],
) -> Result<()> {
    let (n, count) = (shape.rows, shape.count);
    if n == 0 {
        info.fill(0);
        return Ok(());
    }
    let sizes = workspace_sizes(routines::gees_sizes::<T>(!z.is_empty(), n), shape)?;
    let [vectors, parts] = [z.len(), wi.len()].map(|len| len / count.max(1));
    let items = split(a, shape.elements(), count)
        .zip(split(z, vectors, count))
        .zip(split(w, n as usize, count).zip(split(wi, parts, count)))
        .zip(info);
    let workspace = || Workspace::new(sizes);
    let flops = 10.0 * shape.flops();
    for_each(
        cx,
        flops,
        items,
        workspace,
        |ws, (((a, z), (w, wi)), info)| {
            *info = n;
            if all_finite(a) {
                drop_tiny(a);
                *info = routines::gees(a, (w, wi), z, ws);
                refuse_negative(*info, "gees")?;
            }
            if *info != 0 {
                for part in [a, z, w, wi] {
                    part.fill(T::NAN);
                }
            }
            Ok(())
        },
    )
}
