//! The numerical policy, on the stream: a matrix that is not finite is found, replaced by zeros
//! before anything iterates over it, and its results become NaN; so do those where `info` says that
//! there are none. The host learns nothing of it and waits for nothing.

use super::scratch::{bytes, Arena, Part};
use super::{device, kernels, Batch, DeviceSlice, DeviceSliceMut, Element};
use matrices::{Matrices, Triangle};
use std::mem::size_of;
use xla_ffi::{Error, Result};

const SCAN: [&str; 2] = kernels::for_precisions!("scan");
const SCRUB: [&str; 2] = kernels::for_precisions!("scrub");
const POISON: [&str; 2] = kernels::for_precisions!("poison");

/// What `info` is for a matrix that is not finite, where it says that there is no result.
pub const NOT_FINITE: u64 = 1;

/// Which matrices of a batch are not finite: one i32 for each, in the device's memory.
pub struct Guard<'m>(DeviceSliceMut<'m, i32>);

/// Bytes of the memory of a [`Guard`].
///
/// # Errors
/// They are beyond all memory.
pub fn size(shape: Matrices) -> Result<usize> {
    bytes(shape.count, size_of::<i32>())
}

/// Does `work` with a guard of the batch, if there is anything in it.
///
/// # Errors
/// `work`'s; there is no memory for the guard.
pub fn with(batch: Batch<'_, '_>, work: impl FnOnce(Guard<'_>) -> Result<()>) -> Result<()> {
    if batch.1.is_empty() {
        return Ok(());
    }
    let mut memory = Arena::new(batch.0, [size(batch.1)?])?;
    let [flags] = memory.parts();
    work(Guard::new(batch, flags)?)
}

/// The same with `info`, or with a number for each matrix where nobody asks for it. It is 0 where there is nothing to do.
///
/// # Errors
/// As [`with`].
pub fn with_info(
    batch: Batch<'_, '_>,
    info: Option<DeviceSliceMut<'_, i32>>,
    work: impl FnOnce(Guard<'_>, DeviceSliceMut<'_, i32>) -> Result<()>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.is_empty() {
        return device::clear_if_given(cx.platform(), info, shape.count);
    }
    let size = size(shape)?;
    let mut memory = Arena::new(cx, [size, if info.is_some() { 0 } else { size }])?;
    let [flags, own_info] = memory.parts();
    work(Guard::new(batch, flags)?, info.unwrap_or(own_info.of()))
}

impl<'m> Guard<'m> {
    /// All matrices are finite so far.
    ///
    /// # Errors
    /// The driver's.
    pub fn new((cx, shape): Batch<'_, '_>, memory: Part<'m>) -> Result<Self> {
        let mut flags = memory.of::<i32>();
        device::clear(cx.platform(), flags.reborrow(), shape.count)?;
        Ok(Guard(flags))
    }

    fn flags(&mut self, shape: Matrices) -> Result<u64> {
        Ok(self.0.matrices("flags", shape.count, 1)?.address())
    }

    /// Looks at the first `used` elements of each matrix.
    ///
    /// # Errors
    /// There is less memory than that; the kernel cannot be launched.
    pub fn scan<T: Element>(
        &mut self,
        batch: Batch<'_, '_>,
        a: DeviceSlice<'_, T>,
        used: usize,
    ) -> Result<()> {
        self.look(batch, a, used, 0)
    }

    /// Looks at a triangle of each matrix.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_triangle<T: Element>(
        &mut self,
        batch: Batch<'_, '_>,
        a: DeviceSlice<'_, T>,
        triangle: Triangle,
    ) -> Result<()> {
        let triangle = match triangle {
            Triangle::Lower => 1,
            Triangle::Upper => 2,
        };
        self.look(batch, a, batch.1.elements(), triangle)
    }

    fn look<T: Element>(
        &mut self,
        (cx, shape): Batch<'_, '_>,
        a: DeviceSlice<'_, T>,
        used: usize,
        triangle: u64,
    ) -> Result<()> {
        let elements = shape.elements();
        if used > elements {
            let text = format!("{used} elements of matrices that have {elements}");
            return Err(Error::internal(text));
        }
        let a = a.matrices("a", shape.count, elements)?;
        let (size, used) = (elements << T::SHIFT, used << T::SHIFT);
        let arguments = [
            a.address(),
            size as u64,
            shape.count as u64,
            used as u64,
            u64::from(T::SHIFT),
            shape.rows as u64,
            triangle,
            self.flags(shape)?,
        ];
        let sizes = (used, shape.count);
        // SAFETY: `count` matrices of `size` numbers, of which `used` are read, and a flag for each.
        unsafe { kernels::launch(cx.platform(), SCAN[T::PRECISION], sizes, arguments) }
    }

    /// Zeros in place of matrices that are not finite.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scrub<T: Element>(
        &mut self,
        (cx, shape): Batch<'_, '_>,
        mut a: DeviceSliceMut<'_, T>,
    ) -> Result<()> {
        let a = a.matrices("a", shape.count, shape.elements())?;
        let size = shape.elements() << T::SHIFT;
        let flags = self.flags(shape)?;
        let arguments = [a.address(), size as u64, shape.count as u64, flags];
        let sizes = (size, shape.count);
        // SAFETY: `count` matrices of `size` numbers, and a flag for each.
        unsafe { kernels::launch(cx.platform(), SCRUB[T::PRECISION], sizes, arguments) }
    }

    /// NaN in the `elements` of each matrix's result where the matrix was not finite or, if there
    /// is an `info`, where it is positive.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn poison<T: Element>(
        &mut self,
        (cx, shape): Batch<'_, '_>,
        mut result: DeviceSliceMut<'_, T>,
        elements: usize,
        info: Option<DeviceSlice<'_, i32>>,
    ) -> Result<()> {
        let result = result.matrices("result", shape.count, elements)?;
        let info = match info {
            Some(info) => info.matrices("info", shape.count, 1)?.address(),
            None => 0,
        };
        let size = elements << T::SHIFT;
        let arguments = [
            result.address(),
            size as u64,
            shape.count as u64,
            self.flags(shape)?,
            info,
        ];
        let sizes = (size, shape.count);
        // SAFETY: `count` results of `size` numbers, a flag for each, and a number or none.
        unsafe { kernels::launch(cx.platform(), POISON[T::PRECISION], sizes, arguments) }
    }

    /// Sets `info` where the matrix was not finite.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn mark(
        &mut self,
        (cx, shape): Batch<'_, '_>,
        mut info: DeviceSliceMut<'_, i32>,
        value: u64,
    ) -> Result<()> {
        let info = info.matrices("info", shape.count, 1)?;
        let flags = self.flags(shape)?;
        let arguments = [info.address(), shape.count as u64, value, flags];
        // SAFETY: `count` numbers and flags.
        unsafe { kernels::launch(cx.platform(), "mark", (shape.count, 1), arguments) }
    }

    /// Pivots 1, 2, … where the matrix was not finite.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keep_rows(
        &mut self,
        (cx, shape): Batch<'_, '_>,
        mut pivots: DeviceSliceMut<'_, i32>,
    ) -> Result<()> {
        let size = shape.rank() as usize;
        let pivots = pivots.matrices("pivots", shape.count, size)?;
        let flags = self.flags(shape)?;
        let arguments = [pivots.address(), size as u64, shape.count as u64, flags];
        let sizes = (size, shape.count);
        // SAFETY: `size` pivots for each of `count` matrices, and a flag.
        unsafe { kernels::launch(cx.platform(), "keep_rows", sizes, arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_has_a_number_for_each_matrix() {
        let shape = |count| Matrices {
            count,
            rows: 3,
            cols: 4,
        };
        assert_eq!(size(shape(0)), Ok(0));
        assert_eq!(size(shape(7)), Ok(28));
        assert!(size(shape(usize::MAX / 2)).is_err());
    }
}
