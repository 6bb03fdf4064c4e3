//! The completion of a call after its handler has returned: XLA's futures.

use core::mem::size_of;
use core::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::context::{api_fn, Context};
use crate::error::{Error, Result};
use crate::report::xla_error;
use crate::sys;

/// A call that may be completed later. XLA is told when the last one who has it lets go.
#[derive(Debug, Default)]
pub(crate) struct Completion(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Somebody has a promise, or operands.
    pub(crate) begun: bool,
    pub(crate) answer: Option<Result<()>>,
    /// Set when the handler has returned, if the call was not complete then.
    future: Option<Future>,
}

/// XLA's side of a promise.
#[derive(Debug)]
struct Future {
    api: *const sys::XLA_FFI_Api,
    raw: *mut sys::XLA_FFI_Future,
    target: &'static str,
}

// SAFETY: XLA's futures are completed from any thread, by functions of a table that is constant.
unsafe impl Send for Future {}

impl State {
    fn outcome(&mut self) -> Result<()> {
        self.answer.take().unwrap_or_else(|| {
            if self.begun {
                Err(Error::internal("nobody completed the call"))
            } else {
                Ok(())
            }
        })
    }
}

impl Completion {
    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this XLA has what it takes.
    pub(crate) fn is_possible(context: &Context<'_>) -> Result<()> {
        // A frame's `struct_size` ends before its `future`, which came with these functions.
        if api_fn!(context.api, XLA_FFI_Future_Create).is_none() {
            return Err(context.missing("XLA_FFI_Future_Create"));
        }
        if api_fn!(context.api, XLA_FFI_Future_SetAvailable).is_none() {
            return Err(context.missing("XLA_FFI_Future_SetAvailable"));
        }
        if api_fn!(context.api, XLA_FFI_Future_SetError).is_none() {
            return Err(context.missing("XLA_FFI_Future_SetError"));
        }
        Ok(())
    }

    /// What the handler returns, and a future in the frame where the call goes on.
    ///
    /// # Safety
    /// `frame` is XLA's, of an XLA where this [is possible](Self::is_possible).
    pub(crate) unsafe fn settle(
        self: Arc<Self>,
        outcome: Result<()>,
        frame: *mut sys::XLA_FFI_CallFrame,
        context: &Context<'_>,
        target: &'static str,
    ) -> Result<()> {
        if outcome.is_err() {
            self.lock().answer = Some(outcome);
        }
        let mut call = match Arc::try_unwrap(self) {
            // XLA takes either an error or a future, and here there is no need of one.
            Ok(call) => return call.lock().outcome(),
            Err(call) => call,
        };
        match create(context) {
            Ok(raw) => {
                call.lock().future = Some(Future {
                    api: context.api,
                    raw,
                    target,
                });
                // SAFETY: by contract.
                unsafe { (*frame).future = raw };
                Ok(())
            }
            Err(error) => loop {
                // To return would give the operands away that others still have.
                match Arc::try_unwrap(call) {
                    Ok(_) => return Err(error),
                    Err(others) => call = others,
                }
                std::thread::sleep(Duration::from_millis(1));
            },
        }
    }
}

fn create(context: &Context<'_>) -> Result<*mut sys::XLA_FFI_Future> {
    const NAME: &str = "XLA_FFI_Future_Create";
    let create =
        api_fn!(context.api, XLA_FFI_Future_Create).ok_or_else(|| context.missing(NAME))?;
    let mut args = sys::XLA_FFI_Future_Create_Args {
        struct_size: size_of::<sys::XLA_FFI_Future_Create_Args>(),
        extension_start: ptr::null_mut(),
        future: ptr::null_mut(),
    };
    // SAFETY: XLA's function with the struct that it takes; the error is ours from here on.
    unsafe { context.take_error(NAME, create(&mut args))? };
    Ok(args.future)
}

impl Drop for Completion {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(future) = state.future.take() {
            future.tell(state.outcome());
        }
    }
}

impl Future {
    fn tell(self, outcome: Result<()>) {
        let failed = match outcome {
            Ok(()) => {
                let mut args = sys::XLA_FFI_Future_SetAvailable_Args {
                    struct_size: size_of::<sys::XLA_FFI_Future_SetAvailable_Args>(),
                    extension_start: ptr::null_mut(),
                    future: self.raw,
                };
                // SAFETY: XLA's function with the struct that it takes; its future, which is
                // completed this once.
                api_fn!(self.api, XLA_FFI_Future_SetAvailable)
                    .map(|tell| unsafe { tell(&mut args) })
            }
            Err(error) => {
                // SAFETY: XLA's table.
                let error = unsafe { xla_error(self.api, &error.with_op(self.target)) };
                let mut args = sys::XLA_FFI_Future_SetError_Args {
                    struct_size: size_of::<sys::XLA_FFI_Future_SetError_Args>(),
                    extension_start: ptr::null_mut(),
                    future: self.raw,
                    error,
                };
                // SAFETY: as above; XLA takes the error.
                api_fn!(self.api, XLA_FFI_Future_SetError).map(|tell| unsafe { tell(&mut args) })
            }
        };
        if failed.map_or(true, |error| !error.is_null()) {
            // XLA would wait for ever.
            eprintln!(
                "xla-ffi: cannot tell XLA that a call of `{}` is complete",
                self.target
            );
            std::process::abort();
        }
    }
}
