//! Scratch memory of a call: one request to XLA's allocator for all that the call needs.

use super::Cuda;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;
use xla_ffi::{Code, Cx, Error, Result, Scratch};

/// What XLA's allocator can be asked for; it gives 256.
const ALIGN: usize = 16;

/// Parts begin at multiples of this, as memory from CUDA itself does.
const STEP: usize = 256;

/// Memory in parts, given back when the call ends; the device still works in it, but whoever gets
/// it next is behind that work on the stream.
pub struct Arena<'f, const N: usize> {
    _memory: Scratch<'f>,
    /// Addresses of the parts; dangling where a part is empty.
    pub parts: [*mut c_void; N],
}

/// Memory in parts of these sizes. No request is made where all are 0.
///
/// # Errors
/// There is no memory; the sizes are beyond all memory.
pub fn arena<'f, const N: usize>(cx: &Cx<'f, Cuda>, sizes: [usize; N]) -> Result<Arena<'f, N>> {
    let mut offsets = [0; N];
    let mut total = Some(0usize);
    for (offset, size) in offsets.iter_mut().zip(sizes) {
        *offset = total.unwrap_or(0);
        total = total
            .and_then(|total| total.checked_add(size)?.checked_next_multiple_of(STEP))
            .filter(|&total| isize::try_from(total).is_ok());
    }
    let Some(total) = total else {
        let text = "more scratch memory is needed than addresses can count";
        return Err(Error::new(Code::ResourceExhausted, text));
    };
    let memory = cx.scratch(total, ALIGN)?;
    let parts = offsets.map(|offset| memory.as_ptr().wrapping_byte_add(offset));
    Ok(Arena {
        _memory: memory,
        parts,
    })
}

/// Memory of this processor that a routine works in.
pub struct HostWork(Vec<u64>);

impl HostWork {
    /// # Errors
    /// There is none.
    pub fn new(bytes: usize) -> Result<Self> {
        let len = bytes.div_ceil(size_of::<u64>());
        let mut memory = Vec::new();
        if memory.try_reserve_exact(len).is_err() {
            let text = format!("no {bytes} bytes of memory to work in");
            return Err(Error::new(Code::ResourceExhausted, text));
        }
        memory.resize(len, 0);
        Ok(HostWork(memory))
    }

    /// The first byte; null where there are none.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        if self.0.is_empty() {
            return ptr::null_mut();
        }
        self.0.as_mut_ptr().cast()
    }
}

/// `count` items of `bytes` bytes.
///
/// # Errors
/// They are beyond all memory.
pub fn bytes(count: usize, bytes: usize) -> Result<usize> {
    count.checked_mul(bytes).ok_or_else(|| {
        let text = format!("{count} items of {bytes} bytes are beyond all memory");
        Error::new(Code::ResourceExhausted, text)
    })
}
