//! The device's memory: copies and fills on the stream.

use super::status::driver;
use super::{Cuda, DeviceSlice, DeviceSliceMut};
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Code, Error, Result, Scalar};

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
    unsafe { copy_bytes(cuda, to.as_mut_ptr(), from.as_ptr(), from.byte_len()?) }
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
    unsafe { copy_bytes(cuda, to.at(0), from.at(0), len * size_of::<T>()) }
}

/// # Safety
/// Both are `bytes` of the device's memory, of this call, and do not overlap.
unsafe fn copy_bytes(
    cuda: &Cuda,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: as promised; the driver reads and writes on the stream, in its order.
    let status =
        unsafe { (cuda.driver.memcpy_dtod_async)(to as u64, from as u64, bytes, cuda.stream) };
    driver("MemcpyDtoDAsync", status)
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
    let bytes = len * size_of::<T>();
    // SAFETY: memory of `len` elements, which the driver writes on the stream, in its order.
    let status = unsafe { (cuda.driver.memset_d8_async)(to.address(), 0, bytes, cuda.stream) };
    driver("MemsetD8Async", status)
}

/// An argument's bytes, read once all earlier work on the stream is done. The only function here
/// that waits.
///
/// # Errors
/// The driver's, also those of earlier work; there is no memory to read into.
pub fn read(cuda: &Cuda, from: &AnyBuffer<'_>) -> Result<Vec<u8>> {
    let bytes = from.byte_len()?;
    let mut read = Vec::new();
    if bytes == 0 {
        return Ok(read);
    }
    if read.try_reserve_exact(bytes).is_err() {
        let text = format!("no {bytes} bytes of memory to read into");
        return Err(Error::new(Code::ResourceExhausted, text));
    }
    read.resize(bytes, 0);
    // SAFETY: an argument of `bytes` bytes, and room for as many, which stays until the stream is
    // done.
    let status = unsafe {
        (cuda.driver.memcpy_dtoh_async)(
            read.as_mut_ptr().cast(),
            from.as_ptr() as u64,
            bytes,
            cuda.stream,
        )
    };
    let copied = driver("MemcpyDtoHAsync", status);
    // SAFETY: XLA's stream.
    let waited = unsafe { (cuda.driver.stream_synchronize)(cuda.stream) };
    copied
        .and(driver("StreamSynchronize", waited))
        .map(|()| read)
}
