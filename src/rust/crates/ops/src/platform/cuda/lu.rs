//! LU factorisation of a batch.

use super::guard::{self, Guard};
use super::scratch::{arena, bytes};
use super::{device, handles, kernels, sizes, status, Batch, Cuda, Element};
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::{Code, Cx, Error, Result};

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
    let own_info = if info.is_some() { 0 } else { infos };
    if sizes::lu_at_once(shape) {
        let scratch = arena(
            cx,
            [guard::bytes(shape), own_info, addresses_bytes(shape.count)?],
        )?;
        let [flags, own_info, addresses] = scratch.parts;
        let info = info.unwrap_or(own_info);
        guarded::<T>(batch, flags, a, pivots, info, || {
            let n = shape.rows;
            list_addresses(
                cx,
                addresses,
                a,
                bytes(shape.elements(), size_of::<T>())?,
                shape.count,
            )?;
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
        let mut length: c_int = 0;
        // SAFETY: only the length is written; the matrix is not looked at.
        let answer =
            unsafe { (solver.library.getrf_size[T::KIND])(solver.handle, m, n, a, m, &mut length) };
        status::cusolver("getrf_bufferSize", answer)?;
        let work = work_bytes::<T>(length)?;
        let scratch = arena(cx, [guard::bytes(shape), own_info, work])?;
        let [flags, own_info, work] = scratch.parts;
        let info = info.unwrap_or(own_info);
        guarded::<T>(batch, flags, a, pivots, info, || {
            (0..shape.count).try_for_each(|i| {
                let matrix = device::at(a, i, shape.elements() * size_of::<T>());
                let pivots = device::at(pivots, i, shape.rank() as usize * size_of::<i32>());
                let info = device::at(info, i, size_of::<i32>());
                // SAFETY: a matrix of that shape, its pivots and its info, and as much to work in
                // as the routine asked for.
                let answer = unsafe {
                    (solver.library.getrf[T::KIND])(
                        solver.handle,
                        m,
                        n,
                        matrix,
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

/// Does `factor` with what the policy asks for before and after it.
fn guarded<T: Element>(
    batch: Batch<'_, '_>,
    flags: *mut c_void,
    a: *mut c_void,
    pivots: *mut c_void,
    info: *mut c_void,
    factor: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let elements = batch.1.elements();
    let guard = Guard::new(batch, flags)?;
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

/// Bytes of the addresses of as many matrices.
pub(super) fn addresses_bytes(count: usize) -> Result<usize> {
    bytes(count, size_of::<*mut c_void>())
}

/// Lists the addresses of matrices that lie `stride` bytes apart, in the device's memory.
pub(super) fn list_addresses(
    cx: &Cx<'_, Cuda>,
    to: *mut c_void,
    first: *mut c_void,
    stride: usize,
    count: usize,
) -> Result<()> {
    let arguments = [to as u64, first as u64, stride as u64, count as u64];
    kernels::launch(cx.platform(), "addresses", (count, 1), arguments)
}

/// The number of matrices as the libraries count it.
pub(super) fn count_of(count: usize) -> Result<c_int> {
    c_int::try_from(count).map_err(|_| {
        let text = format!("{count} matrices are more than CUDA's libraries can count");
        Error::new(Code::InvalidArgument, text)
    })
}

/// Bytes of the workspace that a routine asked for in elements.
pub(super) fn work_bytes<T: Element>(length: c_int) -> Result<usize> {
    let length = usize::try_from(length)
        .map_err(|_| Error::internal(format!("cuSOLVER asks for {length} elements to work in")))?;
    bytes(length, size_of::<T>())
}
