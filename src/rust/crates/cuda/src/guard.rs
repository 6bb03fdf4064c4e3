//! The numerical policy, on the stream: a matrix that is not finite is found, replaced by zeros
//! before anything iterates over it, and its results become NaN; so do those where `info` says that
//! there are none. The host learns nothing of it and waits for nothing.

use super::scratch::{arena_after, bytes, Arena};
use super::{device, kernels, Batch, Element};
use matrices::Triangle;
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::{Result, Scratch};

const SCAN: [&str; 2] = ["scan_f32", "scan_f64"];
const SCRUB: [&str; 2] = ["scrub_f32", "scrub_f64"];
const POISON: [&str; 2] = ["poison_f32", "poison_f64"];

/// What `info` is for a matrix that is not finite, where it says that there is no result.
pub const NOT_FINITE: u64 = 1;

/// Which matrices of a batch are not finite: one i32 for each, in the device's memory.
pub struct Guard<'f>(Scratch<'f>);

impl<'f> Guard<'f> {
    /// All matrices are finite so far. With it, in one request, scratch memory of these sizes, which
    /// is there for as long as the guard is.
    ///
    /// # Errors
    /// There is no memory; the driver's.
    pub fn new<const N: usize>(
        (cx, shape): Batch<'_, 'f>,
        sizes: [usize; N],
    ) -> Result<(Self, [*mut c_void; N])> {
        let size = bytes(shape.count, size_of::<i32>())?;
        let Arena { memory, parts } = arena_after(cx, size, sizes)?;
        device::clear(cx.platform(), memory.as_ptr(), size)?;
        Ok((Guard(memory), parts))
    }

    fn flags(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    /// Looks at the first `used` elements of each matrix.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn scan<T: Element>(
        &self,
        (cx, shape): Batch<'_, '_>,
        a: *const c_void,
        used: usize,
    ) -> Result<()> {
        self.look::<T>((cx, shape), a, used << T::SHIFT, 0)
    }

    /// Looks at a triangle of each matrix.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn scan_triangle<T: Element>(
        &self,
        (cx, shape): Batch<'_, '_>,
        a: *const c_void,
        triangle: Triangle,
    ) -> Result<()> {
        let triangle = match triangle {
            Triangle::Lower => 1,
            Triangle::Upper => 2,
        };
        self.look::<T>((cx, shape), a, shape.elements() << T::SHIFT, triangle)
    }

    fn look<T: Element>(
        &self,
        (cx, shape): Batch<'_, '_>,
        a: *const c_void,
        used: usize,
        triangle: u64,
    ) -> Result<()> {
        let size = shape.elements() << T::SHIFT;
        let arguments = [
            a as u64,
            size as u64,
            shape.count as u64,
            used as u64,
            u64::from(T::SHIFT),
            shape.rows as u64,
            triangle,
            self.flags(),
        ];
        kernels::launch(
            cx.platform(),
            SCAN[T::PRECISION],
            (used, shape.count),
            arguments,
        )
    }

    /// Zeros in place of matrices that are not finite.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn scrub<T: Element>(&self, (cx, shape): Batch<'_, '_>, a: *mut c_void) -> Result<()> {
        let size = shape.elements() << T::SHIFT;
        let arguments = [a as u64, size as u64, shape.count as u64, self.flags()];
        kernels::launch(
            cx.platform(),
            SCRUB[T::PRECISION],
            (size, shape.count),
            arguments,
        )
    }

    /// NaN in the `elements` of each matrix's result where the matrix was not finite or, if there
    /// is an `info`, where it is positive.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn poison<T: Element>(
        &self,
        (cx, shape): Batch<'_, '_>,
        result: *mut c_void,
        elements: usize,
        info: Option<*mut c_void>,
    ) -> Result<()> {
        let size = elements << T::SHIFT;
        let arguments = [
            result as u64,
            size as u64,
            shape.count as u64,
            self.flags(),
            info.map_or(0, |info| info as u64),
        ];
        kernels::launch(
            cx.platform(),
            POISON[T::PRECISION],
            (size, shape.count),
            arguments,
        )
    }

    /// Sets `info` where the matrix was not finite.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn mark(&self, (cx, shape): Batch<'_, '_>, info: *mut c_void, value: u64) -> Result<()> {
        let arguments = [info as u64, shape.count as u64, value, self.flags()];
        kernels::launch(cx.platform(), "mark", (shape.count, 1), arguments)
    }

    /// Pivots 1, 2, … where the matrix was not finite.
    ///
    /// # Errors
    /// As [`kernels::launch`].
    pub fn keep_rows(&self, (cx, shape): Batch<'_, '_>, pivots: *mut c_void) -> Result<()> {
        let size = shape.rank() as usize;
        let arguments = [pivots as u64, size as u64, shape.count as u64, self.flags()];
        kernels::launch(cx.platform(), "keep_rows", (size, shape.count), arguments)
    }
}
