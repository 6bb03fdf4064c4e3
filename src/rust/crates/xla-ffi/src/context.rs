//! What XLA offers during a call: stream, device, run id, scratch memory. The thread pool is in
//! `pool`.

use core::ffi::{c_void, CStr};
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr::{self, NonNull};
use std::alloc::{alloc, dealloc, Layout};

use crate::error::{Code, Error, Result};
#[cfg(feature = "registry")]
use crate::registry::CheckedScratch;
use crate::sys;
#[cfg(feature = "registry")]
use crate::DataType;

/// XLA's services for one call. Each can be missing, depending on platform and version, and says
/// so.
#[derive(Clone, Copy, Debug)]
pub struct Context<'f> {
    pub(crate) api: *const sys::XLA_FFI_Api,
    pub(crate) ctx: *mut sys::XLA_FFI_ExecutionContext,
    reach: Reach,
    _frame: PhantomData<&'f ()>,
}

/// Who can read and write the operands' memory. A word, as contexts are copied by words: the load
/// of one would wait for a narrower store to reach the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Reach {
    /// Handlers.
    Host,
    /// The device alone.
    Device,
}

// SAFETY: XLA's API functions may be called from any thread while the call lasts.
unsafe impl Send for Context<'_> {}
// SAFETY: as above.
unsafe impl Sync for Context<'_> {}

/// A function of the API table, `None` where the table of this XLA ends before it.
macro_rules! api_fn {
    ($api:expr, $name:ident) => {{
        let api: *const sys::XLA_FFI_Api = $api;
        let end = core::mem::offset_of!(sys::XLA_FFI_Api, $name)
            + core::mem::size_of::<Option<sys::$name>>();
        // SAFETY: a live table (see `Context::from_raw`), `struct_size` being its first field; a
        // field is read only if the table reaches that far.
        unsafe {
            if !api.is_null() && (*api).struct_size >= end {
                (*api).$name
            } else {
                None
            }
        }
    }};
}
pub(crate) use api_fn;

/// Calls an API function with a fresh argument struct; gives the struct back, with what XLA wrote.
macro_rules! service {
    ($context:expr, $name:ident, $args:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {{
        let context = $context;
        match api_fn!(context.api, $name) {
            None => Err(context.missing(stringify!($name))),
            Some(function) => {
                let mut args = sys::$args {
                    struct_size: size_of::<sys::$args>(),
                    extension_start: ptr::null_mut(),
                    ctx: context.ctx,
                    $($field $(: $value)?),*
                };
                // SAFETY: XLA's function with the struct it takes; `ctx` is this call's.
                let error = unsafe { function(&mut args) };
                // SAFETY: the error, if any, is ours from here on.
                unsafe { context.take_error(stringify!($name), error) }.map(|()| args)
            }
        }
    }};
}
pub(crate) use service;

impl<'f> Context<'f> {
    /// # Safety
    /// `api` is null or XLA's table, `ctx` the context of this call; both live for `'f`. `host`:
    /// handlers on this platform can read and write its memory.
    pub(crate) unsafe fn from_raw(
        api: *const sys::XLA_FFI_Api,
        ctx: *mut sys::XLA_FFI_ExecutionContext,
        host: bool,
    ) -> Self {
        Context {
            api,
            ctx,
            reach: if host { Reach::Host } else { Reach::Device },
            _frame: PhantomData,
        }
    }

    /// The stream to launch work on: a `CUstream` on CUDA.
    ///
    /// # Errors
    /// The platform has none (CPU).
    pub fn stream(&self) -> Result<*mut c_void> {
        let args = service!(
            self,
            XLA_FFI_Stream_Get,
            XLA_FFI_Stream_Get_Args {
                stream: ptr::null_mut()
            }
        )?;
        Ok(args.stream)
    }

    /// Which of the platform's devices this call runs on.
    ///
    /// # Errors
    /// This XLA is too old to tell.
    pub fn device_ordinal(&self) -> Result<i32> {
        let args = service!(
            self,
            XLA_FFI_DeviceOrdinal_Get,
            XLA_FFI_DeviceOrdinal_Get_Args { device_ordinal: 0 }
        )?;
        Ok(args.device_ordinal)
    }

    /// Identifies the logical execution that this call is part of.
    ///
    /// # Errors
    /// This XLA is too old to tell.
    pub fn run_id(&self) -> Result<i64> {
        let args = service!(
            self,
            XLA_FFI_RunId_Get,
            XLA_FFI_RunId_Get_Args { run_id: 0 }
        )?;
        Ok(args.run_id)
    }

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

    #[cold]
    pub(crate) fn missing(&self, function: &str) -> Error {
        Error::new(Code::Unimplemented, format!("this XLA has no {function}"))
    }

    /// Turns an error of XLA's into ours and destroys it.
    ///
    /// # Safety
    /// `error` is null or an error of this API that nobody else will destroy.
    pub(crate) unsafe fn take_error(
        &self,
        function: &str,
        error: *mut sys::XLA_FFI_Error,
    ) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        let mut text = format!("{function} failed");
        let mut code = Code::Unknown;
        if let Some(get_message) = api_fn!(self.api, XLA_FFI_Error_GetMessage) {
            let mut details = ErrorDetails {
                message: sys::XLA_FFI_Error_GetMessage_Args {
                    struct_size: size_of::<ErrorDetails>(),
                    extension_start: ptr::null_mut(),
                    error,
                    message: ptr::null(),
                },
                errc: sys::XLA_FFI_Error_Code_OK,
            };
            // SAFETY: a live error, and the struct that the function takes, or a longer one.
            unsafe { get_message(ptr::addr_of_mut!(details).cast()) };
            code = Code::from_raw(details.errc);
            if !details.message.message.is_null() {
                // SAFETY: XLA's messages end in NUL and live as long as the error.
                let message = unsafe { CStr::from_ptr(details.message.message) };
                text = format!("{text}: {}", message.to_string_lossy());
            }
        }
        if let Some(destroy) = api_fn!(self.api, XLA_FFI_Error_Destroy) {
            let mut args = sys::XLA_FFI_Error_Destroy_Args {
                struct_size: size_of::<sys::XLA_FFI_Error_Destroy_Args>(),
                extension_start: ptr::null_mut(),
                error,
            };
            // SAFETY: ours to destroy, by contract, and not used again.
            unsafe { destroy(&mut args) };
        }
        Err(Error::new(code, text))
    }
}

/// From FFI 0.4 on the function that gives an error's message gives its code as well, and needs the
/// room for it.
#[repr(C)]
struct ErrorDetails {
    message: sys::XLA_FFI_Error_GetMessage_Args,
    errc: sys::XLA_FFI_Error_Code,
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
