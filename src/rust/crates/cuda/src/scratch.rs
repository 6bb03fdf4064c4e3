//! Scratch memory of a call: one request to XLA's allocator for all that the call needs. How much a
//! routine of cuSOLVER needs, it says itself.

use super::sys::Status;
use super::{status, Cuda, Element};
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::ptr;
use xla_ffi::{Code, Cx, Error, Result, Scratch};

/// What XLA's allocator can be asked for; it gives 256.
const ALIGN: usize = 16;

/// Parts begin at multiples of this, as memory from CUDA itself does.
const STEP: usize = 256;

/// Memory in parts, given back when it is dropped; the device still works in it, but whoever gets
/// it next is behind that work on the stream.
pub struct Arena<'f, const N: usize> {
    /// All of it.
    pub memory: Scratch<'f>,
    /// Addresses of the parts; dangling where a part is empty.
    pub parts: [*mut c_void; N],
}

/// Memory in parts of these sizes. No request is made where all are 0.
///
/// # Errors
/// There is no memory; the sizes are beyond all memory.
pub fn arena<'f, const N: usize>(cx: &Cx<'f, Cuda>, sizes: [usize; N]) -> Result<Arena<'f, N>> {
    arena_after(cx, 0, sizes)
}

/// The same behind `first` bytes, with which the memory begins.
///
/// # Errors
/// As [`arena`].
pub fn arena_after<'f, const N: usize>(
    cx: &Cx<'f, Cuda>,
    first: usize,
    sizes: [usize; N],
) -> Result<Arena<'f, N>> {
    let add = |total: usize, size: usize| {
        let total = total.checked_add(size)?.checked_next_multiple_of(STEP)?;
        isize::try_from(total).is_ok().then_some(total)
    };
    let mut offsets = [0; N];
    let mut total = add(0, first);
    for (offset, size) in offsets.iter_mut().zip(sizes) {
        *offset = total.unwrap_or(0);
        total = total.and_then(|total| add(total, size));
    }
    let Some(total) = total else {
        let text = "more scratch memory is needed than addresses can count";
        return Err(Error::new(Code::ResourceExhausted, text));
    };
    let memory = cx.scratch(total, ALIGN)?;
    let parts = offsets.map(|offset| memory.as_ptr().wrapping_byte_add(offset));
    Ok(Arena { memory, parts })
}

/// How much memory a routine works in: elements, and their bytes. `ask` is its `…_bufferSize`.
///
/// # Errors
/// It refuses, or asks for more than all memory.
pub fn ask<T: Element>(
    function: &str,
    ask: impl FnOnce(&mut c_int) -> Status,
) -> Result<(c_int, usize)> {
    let mut length = 0;
    status::cusolver(function, ask(&mut length))?;
    let elements = usize::try_from(length)
        .map_err(|_| Error::internal(format!("cuSOLVER asks for {length} elements to work in")))?;
    Ok((length, bytes(elements, size_of::<T>())?))
}

/// What a routine of the 64-bit API works in; there for as long as this is. The host's memory is
/// pageable, so CUDA's copies from and to it are done when the routine returns, and it may go then.
pub struct Work<'f> {
    /// Memory of the device.
    pub device: *mut c_void,
    /// How much.
    pub device_bytes: usize,
    /// Memory of the host; null where none is wanted.
    pub host: *mut c_void,
    /// How much.
    pub host_bytes: usize,
    _device: Arena<'f, 1>,
    _host: Vec<u64>,
}

impl<'f> Work<'f> {
    /// As much as a routine wants. `ask` is its `…_bufferSize`, which is told where the two numbers
    /// of bytes go: the device's, then the host's.
    ///
    /// # Errors
    /// It refuses; there is no memory.
    pub fn ask(
        cx: &Cx<'f, Cuda>,
        function: &str,
        ask: impl FnOnce(&mut usize, &mut usize) -> Status,
    ) -> Result<Self> {
        let (mut device_bytes, mut host_bytes) = (0, 0);
        status::cusolver(function, ask(&mut device_bytes, &mut host_bytes))?;
        let scratch = arena(cx, [device_bytes])?;
        let [device] = scratch.parts;
        let mut memory = host_memory(host_bytes)?;
        let host = if memory.is_empty() {
            ptr::null_mut()
        } else {
            memory.as_mut_ptr().cast()
        };
        Ok(Work {
            device,
            device_bytes,
            host,
            host_bytes,
            _device: scratch,
            _host: memory,
        })
    }
}

fn host_memory(bytes: usize) -> Result<Vec<u64>> {
    let len = bytes.div_ceil(size_of::<u64>());
    let mut memory = Vec::new();
    if memory.try_reserve_exact(len).is_err() {
        let text = format!("no {bytes} bytes of memory to work in");
        return Err(Error::new(Code::ResourceExhausted, text));
    }
    memory.resize(len, 0);
    Ok(memory)
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
