//! LU factorisation.

use crate::batched::{address_lists, count_of, infos, list_addresses, one_by_one};
use crate::blocks::{self, Blocks};
use crate::kernels;
use crate::modules::KernelSource;
use crate::routines::order;
use crate::scratch::Elements;
use crate::small::Small;
use crate::{handles, sizes, status, Batch, Changed, Cuda, DeviceSlice, DeviceSliceMut, Element};
use matrices::Matrices;
use std::mem::size_of;
use xla_ffi::{Cx, Error, Result};

/// `P A = L U` in place, of square matrices, all at once; `info` as LAPACK has it.
///
/// # Errors
/// The [module's](super).
pub fn getrf_batched<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
    mut pivots: DeviceSliceMut<'_, i32>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let n = order(shape)?;
    let a = a.matrices("a", shape.count, shape.elements())?;
    let pivots = pivots.matrices("pivots", shape.count, shape.rank() as usize)?;
    let info = info.matrices("info", shape.count, 1)?;
    let mut addresses = address_lists::<1>(cx, shape.count)?;
    let [addresses] = addresses.parts();
    let addresses = list_addresses(cx, addresses.of(), &a)?;
    let blas = handles::blas(cx.platform())?;
    let count = count_of(shape.count)?;
    // SAFETY: addresses of `count` matrices of `n` rows without gaps, pivots and infos for all, in
    // the device's memory.
    let answer = unsafe {
        (blas.library.getrf_batched[T::KIND])(
            blas.handle,
            n,
            addresses.cast_const(),
            n,
            pivots.at(0).cast(),
            info.at(0).cast(),
            count,
        )
    };
    status::cublas("getrfBatched", answer)
}

/// `P A = L U` in place, one matrix after the other; `info` as LAPACK has it.
///
/// # Errors
/// The [module's](super).
pub fn getrf<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
    mut pivots: DeviceSliceMut<'_, i32>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (m, n) = (shape.rows, shape.cols);
    let a = a.matrices("a", shape.count, shape.elements())?;
    let pivots = pivots.matrices("pivots", shape.count, shape.rank() as usize)?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let work = Elements::ask::<T>(cx, "getrf_bufferSize", |length| {
        // SAFETY: only the length is written; the matrix is not looked at.
        unsafe { (solver.library.getrf_size[T::KIND])(solver.handle, m, n, a.at(0), m, length) }
    })?;
    let handle = solver.handle;
    one_by_one(shape.count, "getrf", |i| {
        let (a, pivots, info) = (a.at(i), pivots.at(i).cast(), info.at(i).cast());
        let (space, _, _) = work.parts();
        // SAFETY: a matrix of that shape, its pivots and its info, and as much to work in as the
        // routine asked for.
        unsafe { (solver.library.getrf[T::KIND])(handle, m, n, a, m, space, pivots, info) }
    })
}

/// Columns of a panel of [`in_blocks`], and the bytes of shared memory that it takes.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    width: usize,
    bytes: usize,
}

impl Panel {
    /// The best one on this device for matrices of this shape, where there is one, and a kernel.
    ///
    /// # Errors
    /// The driver's.
    pub fn find<T: Element>(cuda: &Cuda, shape: Matrices) -> Result<Option<Self>> {
        if !sizes::lu_in_blocks(shape, T::PRECISION) {
            return Ok(None);
        }
        let (rows, cols, _) = shape.sizes();
        let (most, widths) = (kernels::shared(cuda)?, sizes::lu_panels(T::KIND));
        // As lu.cu has it: the pivots' rows, the panel and what is behind it, U beside it, three numbers for each of
        // its columns.
        let stride = cols.next_multiple_of(8) + 4;
        let panels = widths.iter().map(|&width| Panel {
            width,
            bytes: ((widths[0] + rows + stride) * width + widths[0]) * size_of::<T>()
                + 3 * width * size_of::<i32>(),
        });
        let mut panels = panels.filter(|panel| panel.bytes <= most);
        let panel = panels.next();
        Ok(panel.filter(|_| blocks::LU.of(T::KIND).is_there(cuda)))
    }
}

/// `P A = L U` in place in a kernel of our own, a block of threads for each matrix. What is not
/// finite becomes NaN, its pivots 1, 2, ….
///
/// # Errors
/// The [module's](super).
pub fn in_blocks<T: Element>(
    (cx, shape): Batch<'_, '_>,
    panel: Panel,
    mut a: DeviceSliceMut<'_, T>,
    mut pivots: DeviceSliceMut<'_, i32>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let a = a.matrices("a", shape.count, shape.elements())?;
    let pivots = pivots.matrices("pivots", shape.count, shape.rank() as usize)?;
    let info = infos(&mut info, shape.count)?;
    let blocks = Blocks {
        count: shape.count,
        warps: sizes::lu_warps(shape),
        shared: panel.bytes,
    };
    let arguments = [
        a.address(),
        pivots.address(),
        info,
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
        panel.width as u64,
    ];
    // SAFETY: `count` matrices of that shape, their pivots, and a number for each or none; shared
    // memory for a panel of that width.
    unsafe { blocks::launch(cx.platform(), &blocks::LU.of(T::KIND), blocks, arguments) }
}

/// As [`in_blocks`], of small matrices.
///
/// # Errors
/// The [module's](super).
pub fn small<T: Element>(
    (cx, shape): Batch<'_, '_>,
    kernel: Small,
    mut a: Changed<'_, T>,
    mut pivots: DeviceSliceMut<'_, i32>,
    mut info: Option<DeviceSliceMut<'_, i32>>,
) -> Result<()> {
    let [from, to] = a.addresses(shape)?;
    let pivots = pivots.matrices("pivots", shape.count, shape.rank() as usize)?;
    let info = infos(&mut info, shape.count)?;
    let arguments = [
        from,
        to,
        pivots.address(),
        info,
        shape.count as u64,
        shape.rows as u64,
        shape.cols as u64,
    ];
    // SAFETY: `count` matrices of that shape, their pivots, and a number for each or none.
    unsafe { kernel.launch(cx.platform(), (shape.count, 0), arguments) }
}

/// Row numbers, counted from 0, in the order in which a factorisation leaves them: of `size` rows,
/// from `length` pivots per matrix that count from 0.
///
/// # Errors
/// The [module's](super); more pivots than rows.
pub fn permutation(
    cx: &Cx<'_, Cuda>,
    count: usize,
    (pivots, length): (DeviceSlice<'_, i32>, usize),
    (mut permutation, size): (DeviceSliceMut<'_, i32>, usize),
) -> Result<()> {
    if length > size {
        return Err(Error::internal(format!("{length} pivots of {size} rows")));
    }
    let pivots = pivots.matrices("pivots", count, length)?;
    let permutation = permutation.matrices("permutation", count, size)?;
    let arguments = [
        permutation.address(),
        pivots.address(),
        count as u64,
        length as u64,
        size as u64,
    ];
    // SAFETY: `length` pivots and `size` places for each of `count` matrices. A pivot that is no row
    // the kernel leaves out.
    unsafe {
        kernels::launch(
            cx.platform(),
            "pivots_to_permutation",
            (count, 1),
            arguments,
        )
    }
}
