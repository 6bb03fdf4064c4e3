//! By Jacobi's method in a kernel of our own, a block of threads for each matrix.

use super::parts::{kind, Parts, Places};
use crate::batched::infos;
use crate::blocks::{self, Blocks};
use crate::kernels;
use crate::scratch::{bytes, Arena};
use crate::small::Small;
use crate::{sizes, Batch, DeviceSlice, DeviceSliceMut, Element};
use std::mem::size_of;
use xla_ffi::{Error, Result};

/// What is asked of [`in_blocks`].
#[derive(Clone, Copy)]
pub struct Form {
    /// Whether vectors are written; there is memory for them in any case.
    pub vectors: bool,
    /// Whether all of them, else the first `min(m, n)`.
    pub full: bool,
    /// Whether `v` is `Vᴴ`, else `V`.
    pub adjoint: bool,
}

/// All in one launch; what is not finite gets NaN. `a`, whose matrices have elements, is left as it
/// is. `info`, if any, is one more than the columns that there are if the iteration has not
/// converged.
///
/// # Errors
/// The [module's](crate::routines).
pub fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    form: Form,
    a: DeviceSlice<'_, T>,
    mut parts: Parts<'_, T>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let (m, n, short) = shape.sizes();
    if short == 0 {
        return Err(Error::internal("matrices without elements for a kernel"));
    }
    let a = a.matrices("a", shape.count, shape.elements())?;
    let Places { s, u, v } = parts.matrices(shape, kind(form.full))?;
    let info = infos(&mut info, shape.count)?;
    let long = m.max(n);
    let columns = if form.full { long } else { short };
    let square = short * short * size_of::<T>();
    // What the kernel has in shared memory for each column, and how many of its two square matrices
    // beside that.
    let column = 2 * size_of::<T>() + 4 * size_of::<T::Real>() + 2 * size_of::<i32>();
    let factors = short * column;
    let most = kernels::shared(cx.platform())?;
    let near = (most.saturating_sub(factors) / square).min(2);
    let room = long * short + long * columns + if near == 0 { short * short } else { 0 };
    let count = sizes::blocks(shape.count, room * size_of::<T>());
    let mut scratch = Arena::new(cx, [bytes(count, room * size_of::<T>())?])?;
    let [work] = scratch.parts();
    let mut work = work.of::<T>();
    let blocks = Blocks {
        count,
        warps: sizes::svd_warps(shape),
        shared: factors + near * square,
    };
    let arguments = [
        a.address(),
        s.address(),
        u.address(),
        v.address(),
        info,
        work.matrices("work", count, room)?.address(),
        room as u64,
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        near as u64,
        u64::from(form.vectors),
        u64::from(form.full),
        u64::from(form.adjoint),
    ];
    // SAFETY: `count` matrices of that shape, room for their parts, a number for each or none, and
    // `room` elements for each block, beside its shared memory.
    unsafe {
        blocks::launch(
            cx.platform(),
            &blocks::JACOBI.of(T::KIND),
            blocks,
            arguments,
        )
    }
}

/// As [`in_blocks`], of small matrices.
///
/// # Errors
/// The [module's](crate::routines).
pub fn small<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (kernel, form): (Small, Form),
    a: DeviceSlice<'_, T>,
    mut parts: Parts<'_, T>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let a = a.matrices("a", shape.count, shape.elements())?;
    let Places { s, u, v } = parts.matrices(shape, kind(form.full))?;
    let info = infos(&mut info, shape.count)?;
    // `Packed` in small_svd.cu.
    let order = kernel.order();
    let column = (order + 2) * size_of::<T>() + 2 * size_of::<T::Real>() + size_of::<i32>();
    let arguments = [
        a.address(),
        s.address(),
        u.address(),
        v.address(),
        info,
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        u64::from(form.vectors),
        u64::from(form.full),
        u64::from(form.adjoint),
    ];
    let sizes = (shape.count, order * column);
    // SAFETY: `count` matrices of that shape, room for their parts, a number for each or none, and shared memory for a
    // factorisation of each.
    unsafe { kernel.launch(cx.platform(), sizes, arguments) }
}
