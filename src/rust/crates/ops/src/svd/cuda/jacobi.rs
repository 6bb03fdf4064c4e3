//! Singular values by Jacobi's method in a kernel of our own, a block of threads for each matrix.

use super::Parts;
use cuda::kernels::{self, Blocks};
use cuda::scratch::{arena, bytes};
use cuda::{sizes, Batch, Element};
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::Result;

const JACOBI: [&str; 4] = ["jacobi_f32", "jacobi_f64", "jacobi_c64", "jacobi_c128"];

/// All in one launch, with what the policy asks for: `a` is left as it is. `v` is `V`, or `Vᴴ` with
/// `adjoint`. `info` may be null; it is one more than the columns that there are if the iteration has not
/// converged.
///
/// # Errors
/// As [`kernels::launch`]; there is no memory to work in.
pub(super) fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (vectors, full, adjoint): (bool, bool, bool),
    a: *const c_void,
    Parts { s, u, v, info }: Parts,
) -> Result<()> {
    let (short, long) = (shape.rank() as usize, shape.rows.max(shape.cols) as usize);
    let columns = if full { long } else { short };
    let square = short * short * size_of::<T>();
    // What the kernel has in shared memory for each column, and how many of its two square matrices
    // beside that.
    let column = 2 * size_of::<T>() + 4 * size_of::<T::Real>() + 2 * size_of::<i32>();
    let factors = short * column;
    let near = (sizes::SHARED.saturating_sub(factors) / square).min(2);
    let room = long * short + long * columns + if near == 0 { short * short } else { 0 };
    let room_bytes = room * size_of::<T>();
    let count = sizes::svd_blocks(shape.count, room_bytes);
    let scratch = arena(cx, [bytes(count, room_bytes)?])?;
    let [work] = scratch.parts;
    let blocks = Blocks {
        count,
        warps: sizes::svd_warps(shape),
        shared: factors + near * square,
    };
    let arguments = [
        a as u64,
        s as u64,
        u as u64,
        v as u64,
        info as u64,
        work as u64,
        room as u64,
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        near as u64,
        u64::from(vectors),
        u64::from(full),
        u64::from(adjoint),
    ];
    kernels::launch_blocks(cx.platform(), JACOBI[T::KIND], blocks, arguments)
}
