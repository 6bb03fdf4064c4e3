//! The device's memory: copies and fills on the stream.

use super::raw;
use super::{Cuda, DeviceSlice, DeviceSliceMut};
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Result, Scalar};

/// Copies an argument to a result, of any element type; nothing to do where both are one.
///
/// # Errors
/// The element types or the shapes differ; another result has memory of the argument; the driver's.
pub fn copy_buffer(cuda: &Cuda, to: &mut AnyBufferMut<'_>, from: &AnyBuffer<'_>) -> Result<()> {
    to.expect_dtype(from.dtype())?;
    to.expect_dims(from.dims())?;
    if from.as_ptr() == to.as_ptr() {
        return Ok(());
    }
    from.expect_unaliased()?;
    // SAFETY: an argument and a result of one shape and element type, which do not overlap.
    unsafe {
        raw::copy(
            cuda,
            to.as_mut_ptr() as u64,
            from.as_ptr() as u64,
            from.byte_len()?,
        )
    }
}

/// Copies the first `len` elements.
///
/// # Errors
/// There are fewer, here or there; the driver's.
pub fn copy<T: Scalar>(
    cuda: &Cuda,
    mut to: DeviceSliceMut<'_, T>,
    from: DeviceSlice<'_, T>,
    len: usize,
) -> Result<()> {
    let to = to.matrices("to", 1, len)?;
    let from = from.matrices("from", 1, len)?;
    // SAFETY: both have `len` elements, and what is written nobody else has.
    unsafe { raw::copy(cuda, to.address(), from.address(), len * size_of::<T>()) }
}

/// Sets the first `len` elements to 0.
///
/// # Errors
/// There are fewer; the driver's.
pub fn clear<T: Scalar>(cuda: &Cuda, mut to: DeviceSliceMut<'_, T>, len: usize) -> Result<()> {
    let to = to.matrices("to", 1, len)?;
    if len == 0 {
        return Ok(());
    }
    // SAFETY: memory of `len` elements, which the driver writes on the stream, in its order.
    unsafe { raw::clear(cuda, to.address(), len * size_of::<T>()) }
}

/// The same where there is something to clear.
///
/// # Errors
/// As [`clear`].
pub fn clear_if_given<T: Scalar>(
    cuda: &Cuda,
    to: Option<DeviceSliceMut<'_, T>>,
    len: usize,
) -> Result<()> {
    to.map_or(Ok(()), |to| clear(cuda, to, len))
}

/// An argument's bytes, read once all earlier work on the stream is done. The only function here
/// that waits.
///
/// # Errors
/// The driver's, also those of earlier work; there is no memory to read into.
pub fn read(cuda: &Cuda, from: &AnyBuffer<'_>) -> Result<Vec<u8>> {
    let bytes = from.byte_len()?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: an argument of so many bytes.
    unsafe { raw::read(cuda, from.as_ptr() as u64, bytes) }
}
