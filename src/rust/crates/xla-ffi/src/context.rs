//! What XLA offers during a call: stream, device, run id. Its memory is in `scratch`, its thread pool in
//! `pool`.

use core::ffi::{c_void, CStr};
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr;

use crate::error::{Code, Error, Result};
use crate::sys;

/// XLA's services for one call. Each can be missing, depending on platform and version, and says
/// so.
#[derive(Clone, Copy, Debug)]
pub struct Context<'f> {
    pub(crate) api: *const sys::XLA_FFI_Api,
    pub(crate) ctx: *mut sys::XLA_FFI_ExecutionContext,
    pub(crate) reach: Reach,
    _frame: PhantomData<&'f ()>,
}

/// Who can read and write the operands' memory. A word, as contexts are copied by words: the load
/// of one would wait for a narrower store to reach the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Reach {
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

    #[cold]
    pub(crate) fn missing(&self, function: &str) -> Error {
        Error::new(Code::Unimplemented, format!("this XLA has no {function}"))
    }

    /// Turns an error of XLA's into ours and destroys it.
    ///
    /// # Safety
    /// `error` is null or an error of this API that nobody else will destroy.
    #[inline]
    pub(crate) unsafe fn take_error(
        &self,
        function: &str,
        error: *mut sys::XLA_FFI_Error,
    ) -> Result<()> {
        match error.is_null() {
            true => Ok(()),
            // SAFETY: by contract.
            false => Err(unsafe { self.taken(function, error) }),
        }
    }

    /// # Safety
    /// As [`take_error`](Self::take_error); `error` is not null.
    #[cold]
    unsafe fn taken(&self, function: &str, error: *mut sys::XLA_FFI_Error) -> Error {
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
        Error::new(code, text)
    }
}

/// From FFI 0.4 on the function that gives an error's message gives its code as well, and needs the
/// room for it.
#[repr(C)]
struct ErrorDetails {
    message: sys::XLA_FFI_Error_GetMessage_Args,
    errc: sys::XLA_FFI_Error_Code,
}
