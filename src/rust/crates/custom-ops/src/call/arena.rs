//! The memory that calls work in: each thread keeps its own for the next call.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use std::alloc::{alloc, dealloc, Layout};

use xla_ffi::{Code, Error, Result};

use super::attributes::Decoded;
use super::layout;
use crate::body::message::Message;

/// For decoding a call.
#[derive(Default)]
pub(crate) struct Arena {
    pub(crate) attributes: Decoded,
    pub(crate) layout: layout::Layout,
    pub(crate) work: Work,
}

/// For running bodies.
#[derive(Default)]
pub(crate) struct Work {
    /// The address of each array now.
    pub(crate) flat: Vec<*mut c_void>,
    /// What the body gets, where some operand comes several times.
    pub(crate) buffers: Vec<*mut c_void>,
    /// The element of the batch, along each axis.
    pub(crate) at: Vec<usize>,
    pub(crate) scratch: Scratch,
    pub(crate) message: Message,
}

thread_local! {
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// Gives `f` this thread's arena. A call within a call gets one of its own.
pub(crate) fn with<R>(f: impl FnOnce(&mut Arena) -> R) -> R {
    let mut arena = ARENA.with(Cell::take).unwrap_or_default();
    let result = f(&mut arena);
    arena.work.scratch.trim();
    ARENA.with(|kept| kept.set(Some(arena)));
    result
}

/// Scratch memory, aligned for any vector.
pub(crate) struct Scratch {
    data: *mut u8,
    size: usize,
}

impl Scratch {
    pub(crate) const ALIGN: usize = 64;
    /// As much is kept between calls.
    const KEPT: usize = 4 << 20;

    /// The address of at least so many bytes, which hold anything.
    pub(crate) fn at_least(&mut self, size: usize) -> Result<*mut u8> {
        if size > self.size {
            self.free();
            let layout = Layout::from_size_align(size, Self::ALIGN).ok();
            // SAFETY: the size is not 0.
            self.data = layout.map_or(ptr::null_mut(), |layout| unsafe { alloc(layout) });
            if self.data.is_null() {
                let text = format!("there are no {size} bytes of scratch memory");
                return Err(Error::new(Code::ResourceExhausted, text));
            }
            self.size = size;
        }
        Ok(self.data)
    }

    fn trim(&mut self) {
        if self.size > Self::KEPT {
            self.free();
        }
    }

    fn free(&mut self) {
        if self.size > 0 {
            // SAFETY: from `alloc`, with this layout.
            unsafe {
                dealloc(
                    self.data,
                    Layout::from_size_align_unchecked(self.size, Self::ALIGN),
                )
            };
            self.size = 0;
        }
        self.data = ptr::null_mut();
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            data: ptr::null_mut(),
            size: 0,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.free();
    }
}
