//! Memory aligned as XLA's.

use core::ffi::c_void;
use core::mem::size_of;
use core::{ptr, slice};

use crate::Scalar;

#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
struct Block([u8; 64]);

/// Bytes at an address that is a multiple of 64; none have a null pointer, as XLA's may.
#[derive(Debug)]
pub(super) struct AlignedBytes {
    blocks: Vec<Block>,
    size: usize,
}

impl AlignedBytes {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut blocks = vec![Block([0; 64]); bytes.len().div_ceil(64)];
        for (block, bytes) in blocks.iter_mut().zip(bytes.chunks(64)) {
            block.0[..bytes.len()].copy_from_slice(bytes);
        }
        AlignedBytes {
            blocks,
            size: bytes.len(),
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        if self.size == 0 {
            return ptr::null_mut();
        }
        self.blocks.as_mut_ptr().cast()
    }

    pub(super) fn as_slice<T: Scalar>(&self) -> &[T] {
        // SAFETY: at least `size` bytes, aligned to 64, and any bit pattern is a `T`.
        unsafe { slice::from_raw_parts(self.blocks.as_ptr().cast(), self.size / size_of::<T>()) }
    }
}

pub(super) fn bytes_of<T: Scalar>(data: &[T]) -> &[u8] {
    // SAFETY: a `Scalar` has no padding, so all its bytes are initialised.
    unsafe { slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
