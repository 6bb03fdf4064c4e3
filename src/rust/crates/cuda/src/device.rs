//! The device's memory: copies and fills on the stream.

use super::status::driver;
use super::Cuda;
use std::ffi::c_void;
use xla_ffi::{AnyBuffer, Code, Error, Result};

/// An argument's address, for work that reads it while it writes results.
///
/// # Errors
/// XLA gave its memory to a result as well.
pub fn argument(buffer: &AnyBuffer<'_>) -> Result<*const c_void> {
    buffer.expect_unaliased()?;
    Ok(buffer.as_ptr())
}

/// Copies within the device; nothing to do where both are one.
///
/// # Errors
/// The driver's.
pub fn copy(cuda: &Cuda, to: *mut c_void, from: *const c_void, bytes: usize) -> Result<()> {
    if bytes == 0 || to.cast_const() == from {
        return Ok(());
    }
    // SAFETY: both are `bytes` of device memory that XLA or its allocator gave to this call; the
    // driver reads them on the stream, in its order.
    let status =
        unsafe { (cuda.driver.memcpy_dtod_async)(to as u64, from as u64, bytes, cuda.stream) };
    driver("MemcpyDtoDAsync", status)
}

/// Sets bytes to 0.
///
/// # Errors
/// The driver's.
pub fn clear(cuda: &Cuda, to: *mut c_void, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: as in `copy`.
    let status = unsafe { (cuda.driver.memset_d8_async)(to as u64, 0, bytes, cuda.stream) };
    driver("MemsetD8Async", status)
}

/// Bytes of the device, read once all earlier work on the stream is done. The only function here
/// that waits.
///
/// # Errors
/// The driver's, also those of earlier work; there is no memory to read into.
pub fn read(cuda: &Cuda, from: *const c_void, bytes: usize) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    if bytes == 0 {
        return Ok(read);
    }
    if read.try_reserve_exact(bytes).is_err() {
        let text = format!("no {bytes} bytes of memory to read into");
        return Err(Error::new(Code::ResourceExhausted, text));
    }
    read.resize(bytes, 0);
    // SAFETY: `bytes` of device memory, and room for as many, which stays until the stream is done.
    let status = unsafe {
        (cuda.driver.memcpy_dtoh_async)(read.as_mut_ptr().cast(), from as u64, bytes, cuda.stream)
    };
    let copied = driver("MemcpyDtoHAsync", status);
    // SAFETY: XLA's stream.
    let waited = unsafe { (cuda.driver.stream_synchronize)(cuda.stream) };
    copied
        .and(driver("StreamSynchronize", waited))
        .map(|()| read)
}

/// Calls `f` for each of `count` matrices with where its parts are; of each part, it is told where
/// the first matrix's is and how many bytes one takes. Only addresses: the device reads there.
///
/// # Errors
/// The first of `f`'s.
pub fn each<const N: usize>(
    count: usize,
    parts: [(*mut c_void, usize); N],
    f: impl Fn([*mut c_void; N]) -> Result<()>,
) -> Result<()> {
    (0..count).try_for_each(|i| {
        f(parts.map(|(first, bytes)| first.wrapping_byte_add(i.wrapping_mul(bytes))))
    })
}
