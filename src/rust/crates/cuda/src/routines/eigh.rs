//! Eigenvalues of Hermitian matrices: `A = V diag(w) Vᴴ`, `w` ascending; `a` becomes `V`, `info` is as
//! LAPACK has it.

use crate::batched::{count_of, in_parts, infos, one_by_one};
use crate::blocks::{self, Blocks};
use crate::eigh::{InBlocks, Room};
use crate::handles::Solver;
use crate::kernels;
use crate::memory::MutMatrices;
use crate::routines::order;
use crate::scratch::{bytes, Arena, Elements, Work};
use crate::small::Small;
use crate::{fill_mode, handles, job, sizes, status, Batch, Changed, DeviceSliceMut, Element};
use matrices::Triangle;
use std::ffi::c_int;
use xla_ffi::Result;

/// How the eigenvalues are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Jacobi's: one matrix, or as many as possible in one launch.
    Jacobi,
    /// Reduction to tridiagonal form, then divide and conquer: as many at once as cuSOLVER can (from
    /// CUDA 12.6 on), else one after the other.
    DivideAndConquer,
}

/// The operands of a call, compared with the shape.
struct Call<'m> {
    n: i32,
    uplo: c_int,
    a: MutMatrices<'m>,
    w: MutMatrices<'m>,
    info: MutMatrices<'m>,
}

/// By that method.
///
/// # Errors
/// The [module's](super).
pub fn decompose<T: Element>(
    batch: Batch<'_, '_>,
    (method, triangle): (Method, Triangle),
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (cx, shape) = batch;
    let n = order(shape)?;
    let call = Call {
        n,
        uplo: fill_mode(triangle),
        a: a.matrices("a", shape.count, shape.elements())?,
        w: w.matrices("w", shape.count, n as usize)?,
        info: info.matrices("info", shape.count, 1)?,
    };
    let solver = handles::solver(cx.platform())?;
    match method {
        Method::Jacobi => jacobi::<T>(batch, &call, &solver),
        Method::DivideAndConquer => divide_and_conquer::<T>(batch, &call, &solver),
    }
}

/// All in one launch of a kernel of our own, of small matrices; what is not finite gets NaN. `info` is one more than the
/// rows that there are if the iteration has not converged.
///
/// # Errors
/// The [module's](super).
pub fn small<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (kernel, triangle): (Small, Triangle),
    mut a: Changed<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let n = order(shape)?;
    let [from, to] = a.addresses(shape)?;
    let w = w.matrices("w", shape.count, n as usize)?;
    let info = infos(&mut info, shape.count)?;
    let arguments = [
        from,
        to,
        w.address(),
        info,
        shape.count as u64,
        n as u64,
        u64::from(triangle == Triangle::Lower),
    ];
    // SAFETY: `count` matrices of `n` rows, eigenvalues for all, and a number for each or none.
    unsafe { kernel.launch(cx.platform(), (shape.count, 0), arguments) }
}

/// All in one launch of a kernel of our own, with a block of threads for each matrix; `info` as of [`small`].
///
/// # Errors
/// The [module's](super).
pub fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (kernel, triangle): (InBlocks, Triangle),
    mut a: Changed<'_, T>,
    mut w: DeviceSliceMut<'_, T::Real>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let n = order(shape)?;
    let [from, to] = a.addresses(shape)?;
    let w = w.matrices("w", shape.count, n as usize)?;
    let info = infos(&mut info, shape.count)?;
    let most = kernels::shared(cx.platform())?;
    let room = Room::of::<T>(n as usize, sizes::eigh_shared(shape, most));
    let count = sizes::blocks(shape.count, room.far);
    let mut scratch = Arena::new(cx, [bytes(count, room.far)?])?;
    let [work] = scratch.parts();
    let mut work = work.of::<u8>();
    let blocks = Blocks {
        count,
        warps: sizes::eigh_warps(shape),
        shared: room.shared,
    };
    let arguments = [
        from,
        to,
        w.address(),
        info,
        work.matrices("work", count, room.far)?.address(),
        room.far as u64,
        shape.count as u64,
        n as u64,
        room.stride as u64,
        room.columns as u64,
        room.near as u64,
        u64::from(triangle == Triangle::Lower),
    ];
    // SAFETY: `count` matrices of `n` rows, eigenvalues for all, a number for each or none, and so many bytes for each
    // block, beside its shared memory.
    unsafe { blocks::launch(cx.platform(), &kernel, blocks, arguments) }
}

fn jacobi<T: Element>((cx, shape): Batch<'_, '_>, call: &Call<'_>, solver: &Solver) -> Result<()> {
    let (n, uplo, Call { a, w, info, .. }) = (call.n, call.uplo, call);
    let (library, handle, params, jobz) = (solver.library, solver.handle, solver.syevj, job(true));
    let most = sizes::jacobi_part(shape.elements());
    in_parts(shape.count, most, |first, count| {
        let (a, w, info) = (a.at(first), w.at(first), info.at(first).cast());
        let count = count_of(count)?;
        let (routine, its_size) = if count == 1 {
            ("syevj", "syevj_bufferSize")
        } else {
            ("syevjBatched", "syevjBatched_bufferSize")
        };
        let work = Elements::ask::<T>(cx, its_size, |length| {
            // SAFETY: only the length is written; the operands are not looked at.
            unsafe {
                if count == 1 {
                    (library.syevj_size[T::KIND])(handle, jobz, uplo, n, a, n, w, length, params)
                } else {
                    (library.syevj_batched_size[T::KIND])(
                        handle, jobz, uplo, n, a, n, w, length, params, count,
                    )
                }
            }
        })?;
        let (space, length) = (work.device, work.length);
        // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all, and as
        // much to work in as the routine asked for.
        let answer = unsafe {
            if count == 1 {
                (library.syevj[T::KIND])(
                    handle, jobz, uplo, n, a, n, w, space, length, info, params,
                )
            } else {
                (library.syevj_batched[T::KIND])(
                    handle, jobz, uplo, n, a, n, w, space, length, info, params, count,
                )
            }
        };
        status::cusolver(routine, answer)
    })
}

fn divide_and_conquer<T: Element>(
    batch: Batch<'_, '_>,
    call: &Call<'_>,
    solver: &Solver,
) -> Result<()> {
    if batch.1.count > 1 && sizes::eigh_part(call.n) > 1 {
        at_once::<T>(batch, call, solver)
    } else {
        one_after_the_other::<T>(batch, call, solver)
    }
}

fn at_once<T: Element>(batch: Batch<'_, '_>, call: &Call<'_>, solver: &Solver) -> Result<()> {
    let (cx, shape) = batch;
    let (n, uplo, Call { a, w, info, .. }) = (call.n, call.uplo, call);
    let &Solver {
        library,
        handle,
        params,
        ..
    } = solver;
    let (Some(size), Some(run)) = (library.xsyev_batched_size, library.xsyev_batched) else {
        return one_after_the_other::<T>(batch, call, solver);
    };
    let (most, n, jobz) = (sizes::eigh_part(n), i64::from(n), job(true));
    let (a_type, w_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    in_parts(shape.count, most, |first, count| {
        let (a, w, info) = (a.at(first), w.at(first), info.at(first).cast());
        let count = count as i64; // at most `most`
        let work = Work::ask(cx, "XsyevBatched_bufferSize", |device, host| {
            // SAFETY: only the sizes are written; the operands are not looked at.
            unsafe {
                size(
                    handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device, host,
                    count,
                )
            }
        })?;
        // CUDA 12.6's takes for granted that it is: other matrices' vectors come out.
        work.clear(cx)?;
        let (space, bytes, place, more) = work.parts();
        // SAFETY: `count` matrices of `n` rows without gaps, eigenvalues and infos for all,
        // and as much to work in, here and there, as the routine asked for.
        let answer = unsafe {
            run(
                handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, space, bytes,
                place, more, info, count,
            )
        };
        status::cusolver("XsyevBatched", answer)
    })
}

fn one_after_the_other<T: Element>(
    (cx, shape): Batch<'_, '_>,
    call: &Call<'_>,
    &Solver {
        library,
        handle,
        params,
        ..
    }: &Solver,
) -> Result<()> {
    let (n, uplo, Call { a, w, info, .. }) = (i64::from(call.n), call.uplo, call);
    let jobz = job(true);
    let (a_type, w_type) = (T::DATA_TYPE, T::Real::DATA_TYPE);
    let work = Work::ask(cx, "Xsyevd_bufferSize", |device, host| {
        let (a, w) = (a.at(0), w.at(0));
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            (library.xsyevd_size)(
                handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, device, host,
            )
        }
    })?;
    one_by_one(shape.count, "Xsyevd", |i| {
        let (a, w, info) = (a.at(i), w.at(i), info.at(i).cast());
        let (space, bytes, host, more) = work.parts();
        // SAFETY: as above, of one matrix.
        unsafe {
            (library.xsyevd)(
                handle, params, jobz, uplo, n, a_type, a, n, w_type, w, a_type, space, bytes, host,
                more, info,
            )
        }
    })
}
