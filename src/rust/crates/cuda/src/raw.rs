//! Memory of the device by address: copies and fills on the stream.

use super::status::driver;
use super::Cuda;
use xla_ffi::{Code, Error, Result};

/// Copies bytes of the host, which may change when this returns.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// There is memory of the device for them at `to`, of this call.
pub unsafe fn upload(cuda: &Cuda, to: u64, from: &[u8]) -> Result<()> {
    if from.is_empty() {
        return Ok(());
    }
    // SAFETY: as promised. Of memory that is not pinned the driver has made a copy when it
    // returns.
    let status = unsafe {
        (cuda.driver.memcpy_htod_async)(to, from.as_ptr().cast(), from.len(), cuda.stream)
    };
    driver("MemcpyHtoDAsync", status)
}

/// Copies from one place of the device to another.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// There are so many bytes at both places, of this call, and they do not overlap.
pub unsafe fn copy(cuda: &Cuda, to: u64, from: u64, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: as promised.
    let status = unsafe { (cuda.driver.memcpy_dtod_async)(to, from, bytes, cuda.stream) };
    driver("MemcpyDtoDAsync", status)
}

/// Sets bytes to 0.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// There are so many bytes, of this call.
pub unsafe fn clear(cuda: &Cuda, to: u64, bytes: usize) -> Result<()> {
    // SAFETY: as promised.
    let status = unsafe { (cuda.driver.memset_d8_async)(to, 0, bytes, cuda.stream) };
    driver("MemsetD8Async", status)
}

/// Reads bytes once all earlier work on the stream is done.
///
/// # Errors
/// The driver's, also those of earlier work.
///
/// # Safety
/// There are so many bytes, of this call.
pub unsafe fn read(cuda: &Cuda, from: u64, bytes: usize) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    if read.try_reserve_exact(bytes).is_err() {
        let text = format!("no {bytes} bytes of memory to read into");
        return Err(Error::new(Code::ResourceExhausted, text));
    }
    read.resize(bytes, 0);
    // SAFETY: as promised, and room for as many, which stays until the stream is done.
    let status = unsafe {
        (cuda.driver.memcpy_dtoh_async)(read.as_mut_ptr().cast(), from, bytes, cuda.stream)
    };
    let copied = driver("MemcpyDtoHAsync", status);
    // SAFETY: XLA's stream.
    let waited = unsafe { (cuda.driver.stream_synchronize)(cuda.stream) };
    copied
        .and(driver("StreamSynchronize", waited))
        .map(|()| read)
}
