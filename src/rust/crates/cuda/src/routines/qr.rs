//! QR factorisation, and products with `Q`.

use crate::batched::{address_lists, count_of, list_addresses, one_by_one};
use crate::blocks::{self, Blocks};
use crate::kernels;
use crate::scratch::Elements;
use crate::small::Small;
use crate::{handles, sizes, status, Batch, Changed, DeviceSlice, DeviceSliceMut, Element};
use matrices::Matrices;
use std::ffi::c_int;
use std::mem::size_of;
use xla_ffi::{Error, Result};

/// `A = Q R` in place, all matrices at once: reflectors below the diagonal and in `tau`.
///
/// # Errors
/// The [module's](super).
pub fn geqrf_batched<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
    mut tau: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let a = a.matrices("a", shape.count, shape.elements())?;
    let tau = tau.matrices("tau", shape.count, shape.rank() as usize)?;
    let mut addresses = address_lists::<2>(cx, shape.count)?;
    let [matrices, factors] = addresses.parts();
    let matrices = list_addresses(cx, matrices.of(), &a)?;
    let factors = list_addresses(cx, factors.of(), &tau)?;
    let blas = handles::blas(cx.platform())?;
    let count = count_of(shape.count)?;
    // Blames an argument; there is nothing to wait for.
    let mut info: c_int = 0;
    // SAFETY: addresses of `count` matrices of that shape and of their factors in the device's
    // memory; `info` is the host's.
    let answer = unsafe {
        (blas.library.geqrf_batched[T::KIND])(
            blas.handle,
            shape.rows,
            shape.cols,
            matrices.cast_const(),
            shape.rows,
            factors.cast_const(),
            &mut info,
            count,
        )
    };
    status::cublas("geqrfBatched", answer)
}

/// The same, one matrix after the other.
///
/// # Errors
/// The [module's](super).
pub fn geqrf<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
    mut tau: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let (m, n) = (shape.rows, shape.cols);
    let a = a.matrices("a", shape.count, shape.elements())?;
    let tau = tau.matrices("tau", shape.count, shape.rank() as usize)?;
    let solver = handles::solver(cx.platform())?;
    let work = Elements::ask::<T>(cx, "geqrf_bufferSize", |length| {
        // SAFETY: only the length is written; the matrix is not looked at.
        unsafe { (solver.library.geqrf_size[T::KIND])(solver.handle, m, n, a.at(0), m, length) }
    })?;
    let handle = solver.handle;
    one_by_one(shape.count, "geqrf", |i| {
        let (a, tau) = (a.at(i), tau.at(i));
        let (space, length, own_info) = work.parts();
        // SAFETY: a matrix of that shape and its factors, as much to work in as the routine asked
        // for.
        unsafe { (solver.library.geqrf[T::KIND])(handle, m, n, a, m, tau, space, length, own_info) }
    })
}

/// `A = Q R` in place in a kernel of our own, a block of threads for each matrix. What is not finite
/// becomes NaN, and so does its `tau`.
///
/// # Errors
/// The [module's](super).
pub fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
    mut tau: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let a = a.matrices("a", shape.count, shape.elements())?;
    let tau = tau.matrices("tau", shape.count, shape.rank() as usize)?;
    let stride = sizes::qr_stride(shape);
    let matrix = stride * shape.cols as usize * size_of::<T>();
    let near = matrix <= kernels::shared(cx.platform())?;
    let blocks = Blocks {
        count: shape.count,
        warps: sizes::qr_warps(shape),
        shared: if near { matrix } else { 0 },
    };
    let arguments = [
        a.address(),
        tau.address(),
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        sizes::qr_groups(shape) as u64,
        if near { stride as u64 } else { 0 },
    ];
    // SAFETY: `count` matrices of that shape and their factors; shared memory for the columns of a
    // matrix, that far apart, where the kernel is told so.
    unsafe { blocks::launch(cx.platform(), &blocks::QR.of(T::KIND), blocks, arguments) }
}

/// As [`in_blocks`], of small matrices.
///
/// # Errors
/// The [module's](super).
pub fn small<T: Element>(
    (cx, shape): Batch<'_, '_>,
    kernel: Small,
    mut a: Changed<'_, T>,
    mut tau: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let [from, to] = a.addresses(shape)?;
    let tau = tau.matrices("tau", shape.count, shape.rank() as usize)?;
    let arguments = [
        from,
        to,
        tau.address(),
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
    ];
    // SAFETY: `count` matrices of that shape and their factors.
    unsafe { kernel.launch(cx.platform(), (shape.count, 0), arguments) }
}

/// As [`orgqr`], of small matrices. What is not finite becomes NaN.
///
/// # Errors
/// As [`orgqr`].
pub fn small_q<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (kernel, reflectors): (Small, i32),
    mut a: Changed<'_, T>,
    tau: DeviceSlice<'_, T>,
) -> Result<()> {
    expect_reflectors(shape, reflectors)?;
    let [from, to] = a.addresses(shape)?;
    let tau = tau.matrices("tau", shape.count, reflectors as usize)?;
    let arguments = [
        from,
        to,
        tau.address(),
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        reflectors as u64,
    ];
    // SAFETY: `count` matrices of that shape, and `reflectors` factors for each.
    unsafe { kernel.launch(cx.platform(), (shape.count, 0), arguments) }
}

/// `reflectors <= cols <= rows`.
fn expect_reflectors(shape: Matrices, reflectors: i32) -> Result<()> {
    if (0..=shape.cols).contains(&reflectors) && shape.cols <= shape.rows {
        return Ok(());
    }
    let Matrices { rows, cols, .. } = shape;
    let text = format!("no {rows} x {cols} columns of Q from {reflectors} reflectors");
    Err(Error::internal(text))
}

/// The columns of `Q` in place of the reflectors in `a`; `reflectors <= cols <= rows`.
///
/// # Errors
/// The [module's](super); there are other numbers of reflectors, columns and rows.
pub fn orgqr<T: Element>(
    (cx, shape): Batch<'_, '_>,
    reflectors: i32,
    mut a: DeviceSliceMut<'_, T>,
    tau: DeviceSlice<'_, T>,
) -> Result<()> {
    expect_reflectors(shape, reflectors)?;
    let (m, n, k) = (shape.rows, shape.cols, reflectors);
    let a = a.matrices("a", shape.count, shape.elements())?;
    let tau = tau.matrices("tau", shape.count, k as usize)?;
    let solver = handles::solver(cx.platform())?;
    let work = Elements::ask::<T>(cx, "orgqr_bufferSize", |length| {
        let (a, tau) = (a.at(0), tau.at(0));
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe { (solver.library.orgqr_size[T::KIND])(solver.handle, m, n, k, a, m, tau, length) }
    })?;
    let handle = solver.handle;
    one_by_one(shape.count, "orgqr", |i| {
        let (a, tau) = (a.at(i), tau.at(i));
        let (space, length, own_info) = work.parts();
        // SAFETY: a matrix of that shape and its `k` factors, as much to work in as the routine
        // asked for.
        unsafe {
            (solver.library.orgqr[T::KIND])(handle, m, n, k, a, m, tau, space, length, own_info)
        }
    })
}

const COLUMNS: [&str; 4] = kernels::for_kinds!("columns_of_q");

/// The columns of all `Q` in one launch of a kernel of our own, to `q` from the reflectors in
/// `packed`, matrices of the same shape; `reflectors <= cols <= rows`.
///
/// # Errors
/// As [`orgqr`].
pub fn columns_of_q<T: Element>(
    (cx, shape): Batch<'_, '_>,
    reflectors: i32,
    mut q: DeviceSliceMut<'_, T>,
    packed: DeviceSlice<'_, T>,
    tau: DeviceSlice<'_, T>,
) -> Result<()> {
    expect_reflectors(shape, reflectors)?;
    let q = q.matrices("q", shape.count, shape.elements())?;
    let packed = packed.matrices("packed", shape.count, shape.elements())?;
    let tau = tau.matrices("tau", shape.count, reflectors as usize)?;
    let (cuda, columns) = (cx.platform(), shape.cols as usize);
    let arguments = [
        q.address(),
        packed.address(),
        tau.address(),
        columns as u64,
        shape.count as u64,
        shape.rows as u64,
        reflectors as u64,
    ];
    if sizes::columns_by_threads(shape) {
        let sizes = (columns, shape.count);
        // SAFETY: `count` matrices of that shape, here and there, and `reflectors` factors for each.
        return unsafe { kernels::launch(cuda, COLUMNS[T::KIND], sizes, arguments) };
    }
    let blocks = Blocks {
        count: (columns * shape.count).div_ceil(sizes::COLUMN_WARPS),
        warps: sizes::COLUMN_WARPS,
        shared: 0,
    };
    // SAFETY: as above.
    unsafe { blocks::launch(cuda, &blocks::COLUMNS.of(T::KIND), blocks, arguments) }
}

/// `CUBLAS_OP_N`, and the adjoint: `CUBLAS_OP_T` for real elements, `CUBLAS_OP_C` for complex ones.
const PLAIN: c_int = 0;
const ADJOINT: [c_int; 2] = [1, 2];

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ`, in place of `c` (of the batch's shape); `a`
/// and `tau` hold `reflectors` columns and factors per matrix.
///
/// # Errors
/// The [module's](super); there are more reflectors than `Q` has columns.
pub fn ormqr<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (left, adjoint): (bool, bool),
    (a, tau, reflectors): (DeviceSlice<'_, T>, DeviceSlice<'_, T>, i32),
    mut c: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let (m, n, k) = (shape.rows, shape.cols, reflectors);
    let order = if left { m } else { n };
    let of_a = Matrices {
        rows: order,
        cols: k,
        ..shape
    };
    expect_reflectors(of_a, k)?;
    let side = c_int::from(!left);
    let op = if adjoint {
        ADJOINT[T::SHIFT as usize]
    } else {
        PLAIN
    };
    let a = a.matrices("a", shape.count, of_a.elements())?;
    let tau = tau.matrices("tau", shape.count, k as usize)?;
    let c = c.matrices("c", shape.count, shape.elements())?;
    let solver = handles::solver(cx.platform())?;
    let handle = solver.handle;
    let work = Elements::ask::<T>(cx, "ormqr_bufferSize", |length| {
        let (a, tau, c) = (a.at(0), tau.at(0), c.at(0));
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe {
            (solver.library.ormqr_size[T::KIND])(
                handle, side, op, m, n, k, a, order, tau, c, m, length,
            )
        }
    })?;
    one_by_one(shape.count, "ormqr", |i| {
        let (a, tau, c) = (a.at(i), tau.at(i), c.at(i));
        let (space, length, own_info) = work.parts();
        // SAFETY: reflectors, factors and a matrix of these shapes, as much to work in as the
        // routine asked for.
        unsafe {
            (solver.library.ormqr[T::KIND])(
                handle, side, op, m, n, k, a, order, tau, c, m, space, length, own_info,
            )
        }
    })
}
