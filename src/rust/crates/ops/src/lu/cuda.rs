//! LU factorisation of a batch.

use super::LuSolver;
use cuda::batched::{addresses_bytes, count_of, list_addresses};
use cuda::guard::Guard;
use cuda::kernels::Blocks;
use cuda::scratch::{self, bytes};
use cuda::{device, handles, kernels, sizes, status, Batch, Cuda, Element};
use matrices::Matrices;
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::{AnyBufferMut, Cx, Result};

/// `P A = L U` in place. `info` is 0, or the first column, counted from 1, where `U` has a zero on
/// its diagonal. A matrix with NaN or an infinity becomes NaN, its pivots 1, 2, ….
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn getrf<T: Element>(
    batch: Batch<'_, '_>,
    a: *mut c_void,
    pivots: *mut c_void,
    info: Option<*mut c_void>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (cuda, infos) = (cx.platform(), bytes(shape.count, size_of::<i32>())?);
    if shape.elements() == 0 || shape.count == 0 {
        return info.map_or(Ok(()), |info| device::clear(cuda, info, infos));
    }
    if sizes::lu_in_blocks(shape) {
        return in_blocks::<T>(batch, a, pivots, info);
    }
    let own_info = if info.is_some() { 0 } else { infos };
    let matrix_bytes = bytes(shape.elements(), size_of::<T>())?;
    if sizes::lu_at_once(shape) {
        let (guard, [own_info, addresses]) =
            Guard::new(batch, [own_info, addresses_bytes(shape.count)?])?;
        let info = info.unwrap_or(own_info);
        guarded::<T>(batch, guard, a, pivots, info, || {
            let n = shape.rows;
            list_addresses(cx, addresses, a, matrix_bytes, shape.count)?;
            let blas = handles::blas(cuda)?;
            let count = count_of(shape.count)?;
            // SAFETY: addresses of `count` matrices of `n` rows without gaps, pivots and infos for
            // all, in the device's memory.
            let answer = unsafe {
                (blas.library.getrf_batched[T::KIND])(
                    blas.handle,
                    n,
                    addresses as *const *mut c_void,
                    n,
                    pivots.cast(),
                    info.cast(),
                    count,
                )
            };
            status::cublas("getrfBatched", answer)
        })
    } else {
        let solver = handles::solver(cuda)?;
        let (m, n) = (shape.rows, shape.cols);
        let (_, work) = scratch::ask::<T>("getrf_bufferSize", |length| {
            // SAFETY: only the length is written; the matrix is not looked at.
            unsafe { (solver.library.getrf_size[T::KIND])(solver.handle, m, n, a, m, length) }
        })?;
        let (guard, [own_info, work]) = Guard::new(batch, [own_info, work])?;
        let info = info.unwrap_or(own_info);
        guarded::<T>(batch, guard, a, pivots, info, || {
            let parts = [
                (a, matrix_bytes),
                (pivots, shape.rank() as usize * size_of::<i32>()),
                (info, size_of::<i32>()),
            ];
            device::each(shape.count, parts, |[a, pivots, info]| {
                // SAFETY: a matrix of that shape, its pivots and its info, and as much to work in
                // as the routine asked for.
                let answer = unsafe {
                    (solver.library.getrf[T::KIND])(
                        solver.handle,
                        m,
                        n,
                        a,
                        m,
                        work,
                        pivots.cast(),
                        info.cast(),
                    )
                };
                status::cusolver("getrf", answer)
            })
        })
    }
}

const LU: [&str; 4] = ["lu_f32", "lu_f64", "lu_c64", "lu_c128"];

/// All in one launch, with what the policy asks for.
fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    a: *mut c_void,
    pivots: *mut c_void,
    info: Option<*mut c_void>,
) -> Result<()> {
    let matrix = shape.elements() * size_of::<T>();
    let near = matrix <= sizes::SHARED;
    let blocks = Blocks {
        count: shape.count,
        warps: sizes::lu_warps(shape),
        shared: if near { matrix } else { 0 },
    };
    let arguments = [
        a as u64,
        pivots as u64,
        info.map_or(0, |info| info as u64),
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        u64::from(near),
    ];
    kernels::launch_blocks(cx.platform(), LU[T::KIND], blocks, arguments)
}

/// Does `factor` with what the policy asks for before and after it.
fn guarded<T: Element>(
    batch: Batch<'_, '_>,
    guard: Guard<'_>,
    a: *mut c_void,
    pivots: *mut c_void,
    info: *mut c_void,
    factor: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let elements = batch.1.elements();
    guard.scan::<T>(batch, a, elements)?;
    guard.scrub::<T>(batch, a)?;
    factor()?;
    guard.poison::<T>(batch, a, elements, None)?;
    guard.keep_rows(batch, pivots)?;
    guard.mark(batch, info, 0)
}

/// Row numbers, counted from 0, in the order in which a factorisation leaves them: of `size` rows,
/// from `length` pivots per matrix that count from 0.
///
/// # Errors
/// As [`kernels::launch`].
pub(crate) fn permutation(
    cx: &Cx<'_, Cuda>,
    count: usize,
    (pivots, length): (*const c_void, usize),
    (permutation, size): (*mut c_void, usize),
) -> Result<()> {
    let arguments = [
        permutation as u64,
        pivots as u64,
        count as u64,
        length as u64,
        size as u64,
    ];
    kernels::launch(
        cx.platform(),
        "pivots_to_permutation",
        (count, 1),
        arguments,
    )
}

impl<T: Element> LuSolver<T> for Cuda {
    fn getrf(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        pivots: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        getrf::<T>((cx, shape), a.as_mut_ptr(), pivots.as_mut_ptr(), None)
    }
}
