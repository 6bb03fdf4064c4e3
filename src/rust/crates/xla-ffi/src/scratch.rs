//! Scratch memory for the duration of a call.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr::{self, NonNull};
use std::alloc::{alloc, dealloc, Layout};

use crate::context::{api_fn, service, Context, Reach};
use crate::error::{Code, Error, Result};
#[cfg(feature = "registry")]
use crate::registry::CheckedScratch;
use crate::sys;
#[cfg(feature = "registry")]
use crate::DataType;

impl<'f> Context<'f> {
    /// Scratch memory of `bytes` bytes for the duration of the call, in the device's memory; from
    /// XLA's allocator, or from Rust's where handlers run on the CPU (XLA offers none there).
    /// `align` is a power of two.
    ///
    /// # Errors
    /// [`Code::ResourceExhausted`] where there is no memory; an alignment that the allocator cannot
    /// give.
    pub fn scratch(&self, bytes: usize, align: usize) -> Result<Scratch<'f>> {
        let layout = Layout::from_size_align(bytes, align).map_err(|_| {
            Error::invalid_argument(format!(
                "no scratch memory can have {bytes} bytes at {align}"
            ))
        })?;
        let exhausted = || {
            Error::new(
                Code::ResourceExhausted,
                format!("no {bytes} bytes of scratch memory"),
            )
        };
        #[cfg(feature = "registry")]
        if bytes > 0 && self.reach == Reach::Host {
            let dims = vec![bytes as i64];
            if let Some(mut checked) = CheckedScratch::new(None, DataType::U8, dims, align)? {
                let data = NonNull::new(checked.as_mut_ptr().cast()).ok_or_else(exhausted)?;
                return Ok(Scratch {
                    context: *self,
                    data,
                    layout,
                    checked: Some(checked),
                });
            }
        }
        let data = if bytes == 0 {
            // An address that is aligned and nobody's.
            ptr::null_mut::<c_void>().wrapping_byte_add(align)
        } else if self.reach == Reach::Host {
            // SAFETY: the size is not 0.
            unsafe { alloc(layout).cast() }
        } else {
            let args = service!(
                self,
                XLA_FFI_DeviceMemory_Allocate,
                XLA_FFI_DeviceMemory_Allocate_Args {
                    size: bytes,
                    alignment: align,
                    data: ptr::null_mut(),
                }
            );
            args.map_err(out_of_memory)?.data
        };
        let data = NonNull::new(data).ok_or_else(exhausted)?;
        Ok(Scratch {
            context: *self,
            data,
            layout,
            #[cfg(feature = "registry")]
            checked: None,
        })
    }
}

/// Before FFI 0.4 an error of XLA's had no code that could be read.
#[cold]
fn out_of_memory(error: Error) -> Error {
    match error.code() {
        Code::Unknown => error.with_code(Code::ResourceExhausted),
        _ => error,
    }
}

/// Scratch memory of the device, given back on drop.
#[derive(Debug)]
pub struct Scratch<'f> {
    context: Context<'f>,
    data: NonNull<c_void>,
    layout: Layout,
    /// What it lies in, in a call that is being checked.
    #[cfg(feature = "registry")]
    checked: Option<CheckedScratch>,
}

impl Scratch<'_> {
    /// The first byte; dangling where there are none.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.data.as_ptr()
    }

    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.size()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layout.size() == 0
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let (context, size) = (&self.context, self.layout.size());
        if size == 0 {
            return;
        }
        #[cfg(feature = "registry")]
        if self.checked.is_some() {
            return;
        }
        if context.reach == Reach::Host {
            // SAFETY: from `alloc` with this layout.
            unsafe { dealloc(self.data.as_ptr().cast(), self.layout) };
            return;
        }
        // A drop has nobody to tell, and what XLA could not free is XLA's to report.
        let _ = service!(
            context,
            XLA_FFI_DeviceMemory_Free,
            XLA_FFI_DeviceMemory_Free_Args {
                size,
                data: self.data.as_ptr()
            }
        );
    }
}
