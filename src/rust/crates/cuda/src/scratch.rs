//! Scratch memory: one request to XLA's allocator for all that a function needs. How much a routine
//! of cuSOLVER needs, it says itself.

use super::sys::Status;
use super::{raw, status, Cuda, DeviceSliceMut, Element};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr;
use xla_ffi::{Code, Cx, Error, Result, Scalar, Scratch};

/// What XLA's allocator can be asked for; it gives 256.
const ALIGN: usize = 16;

/// Parts begin at multiples of this, as memory from CUDA itself does.
const STEP: usize = 256;

/// Memory in parts, given back when it is dropped; the device still works in it, but whoever gets
/// it next is behind that work on the stream.
pub struct Arena<'f, const N: usize> {
    memory: Scratch<'f>,
    offsets: [usize; N],
    sizes: [usize; N],
}

impl<'f, const N: usize> Arena<'f, N> {
    /// Memory in parts of these sizes, in bytes. No request is made where all are 0.
    ///
    /// # Errors
    /// There is no memory; the sizes are beyond all memory.
    pub fn new(cx: &Cx<'f, Cuda>, sizes: [usize; N]) -> Result<Self> {
        let Some((offsets, total)) = layout(sizes) else {
            let text = "more scratch memory is needed than addresses can count";
            return Err(Error::new(Code::ResourceExhausted, text));
        };
        let memory = cx.scratch(total, ALIGN)?;
        Ok(Arena {
            memory,
            offsets,
            sizes,
        })
    }

    /// The parts.
    pub fn parts(&mut self) -> [Part<'_>; N] {
        let (first, mut sizes) = (self.memory.as_ptr(), self.sizes.iter());
        self.offsets.map(|offset| Part {
            address: first.wrapping_byte_add(offset),
            bytes: sizes.next().copied().unwrap_or(0),
            memory: PhantomData,
        })
    }
}

/// Where parts of these sizes begin, and the bytes of all; `None` where they are beyond all memory.
fn layout<const N: usize>(sizes: [usize; N]) -> Option<([usize; N], usize)> {
    let (mut offsets, mut total) = ([0; N], 0_usize);
    for (offset, size) in offsets.iter_mut().zip(sizes) {
        *offset = total;
        total = total.checked_add(size)?.checked_next_multiple_of(STEP)?;
    }
    isize::try_from(total).ok().map(|_| (offsets, total))
}

/// A part of scratch memory, that has no type yet.
pub struct Part<'m> {
    address: *mut c_void,
    bytes: usize,
    memory: PhantomData<&'m mut [u8]>,
}

impl<'m> Part<'m> {
    /// As many elements as it has room for. They hold anything.
    #[must_use]
    pub fn of<T: Scalar>(self) -> DeviceSliceMut<'m, T> {
        // SAFETY: so many bytes of an arena that is borrowed for `'m`, at a multiple of 16 bytes
        // (of more than any element's) behind the beginning of its memory; parts do not overlap,
        // and this one is used up. Any bits are a `T`.
        unsafe { DeviceSliceMut::from_raw(self.address, self.bytes / size_of::<T>()) }
    }
}

/// What a routine works in: elements, as many as it asks for, and a place for the `info` that
/// only blames arguments.
pub(crate) struct Elements<'f> {
    /// Memory of the device.
    pub(crate) device: *mut c_void,
    /// Elements in it.
    pub(crate) length: c_int,
    /// One number.
    pub(crate) info: *mut c_int,
    _device: Arena<'f, 2>,
}

impl<'f> Elements<'f> {
    /// As much as a routine wants. `ask` is its `…_bufferSize`, which is told where the number of
    /// elements goes.
    ///
    /// # Errors
    /// It refuses, or asks for more than all memory; there is no memory.
    pub(crate) fn ask<T: Element>(
        cx: &Cx<'f, Cuda>,
        function: &str,
        ask: impl FnOnce(&mut c_int) -> Status,
    ) -> Result<Self> {
        let mut length = 0;
        status::cusolver(function, ask(&mut length))?;
        let elements = usize::try_from(length).map_err(|_| {
            Error::internal(format!("cuSOLVER asks for {length} elements to work in"))
        })?;
        let size = bytes(elements, size_of::<T>())?;
        let mut scratch = Arena::new(cx, [size, size_of::<c_int>()])?;
        let [device, info] = scratch.parts().map(|part| part.address);
        Ok(Elements {
            device,
            length,
            info: info.cast(),
            _device: scratch,
        })
    }

    /// What a routine is passed: the memory, its elements, and where a number goes.
    pub(crate) fn parts(&self) -> (*mut c_void, c_int, *mut c_int) {
        (self.device, self.length, self.info)
    }
}

/// What a routine of the 64-bit API works in; there for as long as this is. The host's memory is
/// pageable, so CUDA's copies from and to it are done when the routine returns, and it may go then.
pub(crate) struct Work<'f> {
    /// Memory of the device.
    pub(crate) device: *mut c_void,
    /// How much.
    pub(crate) device_bytes: usize,
    /// Memory of the host; null where none is wanted.
    pub(crate) host: *mut c_void,
    /// How much.
    pub(crate) host_bytes: usize,
    _device: Arena<'f, 1>,
    _host: Vec<u64>,
}

impl<'f> Work<'f> {
    /// As much as a routine wants. `ask` is its `…_bufferSize`, which is told where the two numbers
    /// of bytes go: the device's, then the host's.
    ///
    /// # Errors
    /// It refuses; there is no memory.
    pub(crate) fn ask(
        cx: &Cx<'f, Cuda>,
        function: &str,
        ask: impl FnOnce(&mut usize, &mut usize) -> Status,
    ) -> Result<Self> {
        let (mut device_bytes, mut host_bytes) = (0, 0);
        status::cusolver(function, ask(&mut device_bytes, &mut host_bytes))?;
        let mut scratch = Arena::new(cx, [device_bytes])?;
        let [device] = scratch.parts();
        let device = device.address;
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

    /// What a routine is passed: the device's memory and its bytes, then the host's.
    pub(crate) fn parts(&self) -> (*mut c_void, usize, *mut c_void, usize) {
        (self.device, self.device_bytes, self.host, self.host_bytes)
    }

    /// Sets the device's part to 0.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn clear(&self, cx: &Cx<'_, Cuda>) -> Result<()> {
        if self.device_bytes == 0 {
            return Ok(());
        }
        // SAFETY: so many bytes of this arena.
        unsafe { raw::clear(cx.platform(), self.device as u64, self.device_bytes) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_aligned_and_do_not_overlap() {
        const SIZES: [usize; 6] = [0, 1, 255, 256, 257, 10_000];
        for (a, b, c) in SIZES
            .iter()
            .flat_map(|&a| SIZES.iter().flat_map(move |&b| SIZES.map(|c| (a, b, c))))
        {
            let sizes = [a, b, c];
            let (offsets, total) = layout(sizes).expect("little memory");
            let ends = [offsets[1], offsets[2], total];
            for ((offset, size), end) in offsets.into_iter().zip(sizes).zip(ends) {
                assert_eq!(offset % STEP, 0);
                assert!(offset + size <= end && end < offset + size + STEP);
            }
        }
        assert_eq!(layout([0, 0]), Some(([0, 0], 0)));
        assert_eq!(layout([]), Some(([], 0)));
    }

    #[test]
    fn what_addresses_cannot_count_is_refused() {
        let most = isize::MAX as usize;
        assert!(layout([most - most % STEP]).is_some());
        assert_eq!(layout([most]), None);
        assert_eq!(layout([most / 2 + 1, most / 2 + 1]), None);
        assert_eq!(layout([usize::MAX, 1]), None);
        assert_eq!(layout([1, usize::MAX]), None);
    }

    #[test]
    fn too_many_items_are_reported() {
        assert_eq!(bytes(3, 8), Ok(24));
        assert_eq!(bytes(usize::MAX, 0), Ok(0));
        let error = bytes(usize::MAX, 2).expect_err("too many");
        assert_eq!(error.code(), Code::ResourceExhausted);
        let text = format!("{} items of 2 bytes are beyond all memory", usize::MAX);
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn the_hosts_memory_is_whole_words_or_refused() {
        assert!(host_memory(0).expect("nothing").is_empty());
        assert_eq!(host_memory(9).expect("two words"), [0, 0]);
        let error = host_memory(usize::MAX).expect_err("no such memory");
        assert_eq!(error.code(), Code::ResourceExhausted);
    }
}
