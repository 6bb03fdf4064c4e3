//! What the libraries' routines for a whole batch take: the number of matrices and a list of their
//! addresses.

use super::scratch::bytes;
use super::{kernels, Cuda};
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::{Code, Cx, Error, Result};

/// The number of matrices as the libraries count it.
///
/// # Errors
/// It is beyond that.
pub fn count_of(count: usize) -> Result<c_int> {
    c_int::try_from(count).map_err(|_| {
        let text = format!("{count} matrices are more than CUDA's libraries can count");
        Error::new(Code::InvalidArgument, text)
    })
}

/// Bytes of the addresses of as many matrices.
///
/// # Errors
/// They are beyond all memory.
pub fn addresses_bytes(count: usize) -> Result<usize> {
    bytes(count, size_of::<*mut c_void>())
}

/// Lists the addresses of matrices that lie `stride` bytes apart, in the device's memory.
///
/// # Errors
/// As [`kernels::launch`].
pub fn list_addresses(
    cx: &Cx<'_, Cuda>,
    to: *mut c_void,
    first: *mut c_void,
    stride: usize,
    count: usize,
) -> Result<()> {
    let arguments = [to as u64, first as u64, stride as u64, count as u64];
    kernels::launch(cx.platform(), "addresses", (count, 1), arguments)
}
