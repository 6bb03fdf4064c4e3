//! Calls that are complete only some time after their handler has returned.

use core::marker::PhantomData;
use core::mem::size_of;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::context::{api_fn, Context};
use crate::dims::RankCheck;
use crate::entry::xla_error;
use crate::error::{Error, Result};
use crate::operand::{Arg, Ret};
use crate::{sys, Scalar};

/// A field of an operand struct, for a body that returns before its results are there: the call goes
/// on until its [`Promise`] is answered and every operand that was kept is dropped.
///
/// ```
/// use xla_ffi::{io, Arg, Cx, Host, Kernel, Later, Op, Result, Ret, Untyped};
///
/// io! {
///     struct SlowIo<'f> { x: Arg<'f, f64>, y: Ret<'f, f64>, later: Later<'f> }
/// }
///
/// struct Slow;
///
/// impl Op for Slow {
///     const TARGET: &'static str = "slow";
///     type Dtypes = Untyped;
/// }
///
/// impl Kernel<Host> for Slow {
///     type Io<'f> = SlowIo<'f>;
///
///     fn run(io: SlowIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
///         io.y.expect_dims(io.x.dims())?;
///         let (x, mut y) = (io.later.keep(io.x)?, io.later.keep_mut(io.y)?);
///         let promise = io.later.promise();
///         cx.schedule(move || {
///             y.copy_from_slice(&x); // what takes long goes here
///             promise.complete(Ok(()));
///         })
///     }
/// }
/// ```
///
/// It is an error of the call if a promise was made, or an operand kept, and nobody completes the
/// promise: if the task panics, say. What the body itself returns as an error is the call's, however
/// the promise is answered, and XLA is told when the operands are dropped. An XLA without futures
/// gets an error before the body runs.
#[derive(Debug)]
pub struct Later<'f> {
    call: Arc<Call>,
    // Exactly the lifetime of the frame: operands of no other call can be kept for this one.
    _frame: PhantomData<fn(&'f ()) -> &'f ()>,
}

impl<'f> Later<'f> {
    pub(crate) fn new(call: Arc<Call>) -> Self {
        Later {
            call,
            _frame: PhantomData,
        }
    }

    /// The elements of an argument, for as long as they are needed.
    ///
    /// # Errors
    /// As [`Arg::as_slice`].
    pub fn keep<T: Scalar, R: RankCheck>(&self, arg: Arg<'f, T, R>) -> Result<KeptArg<T>> {
        let elements = arg.as_slice()?;
        Ok(KeptArg {
            data: NonNull::from(elements).cast(),
            len: elements.len(),
            _call: self.begin(),
        })
    }

    /// The elements of a result, for as long as they are needed. Until written they hold anything.
    ///
    /// # Errors
    /// As [`Ret::as_mut_slice`].
    pub fn keep_mut<T: Scalar, R: RankCheck>(&self, ret: Ret<'f, T, R>) -> Result<KeptRet<T>> {
        let elements = ret.into_mut_slice()?;
        Ok(KeptRet {
            len: elements.len(),
            data: NonNull::from(elements).cast(),
            _call: self.begin(),
        })
    }

    /// What completes the call, from any thread.
    #[must_use = "a promise that is dropped is an error of the call"]
    pub fn promise(self) -> Promise {
        Promise { call: self.begin() }
    }

    fn begin(&self) -> Arc<Call> {
        self.call.lock().begun = true;
        Arc::clone(&self.call)
    }
}

/// Completes a call that its handler has left.
#[derive(Debug)]
pub struct Promise {
    call: Arc<Call>,
}

impl Promise {
    /// Says what the call came to. XLA hears of it when the operands that were kept are dropped.
    pub fn complete(self, outcome: Result<()>) {
        self.call.lock().answer.get_or_insert(outcome);
    }
}

/// The elements of an argument that outlive the handler's return; see [`Later::keep`].
#[derive(Debug)]
pub struct KeptArg<T> {
    data: NonNull<T>,
    len: usize,
    _call: Arc<Call>,
}

// SAFETY: like `&[T]`; the call is complete only when this is gone.
unsafe impl<T: Sync> Send for KeptArg<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for KeptArg<T> {}

impl<T> Deref for KeptArg<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: a slice of an argument; XLA keeps it until the call is complete, and `_call` keeps
        // the call from being so.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

/// The elements of a result that outlive the handler's return; see [`Later::keep_mut`].
#[derive(Debug)]
pub struct KeptRet<T> {
    data: NonNull<T>,
    len: usize,
    _call: Arc<Call>,
}

// SAFETY: like `&mut [T]`; the call is complete only when this is gone.
unsafe impl<T: Send> Send for KeptRet<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for KeptRet<T> {}

impl<T> Deref for KeptRet<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as for an argument.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for KeptRet<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for an argument; made of the only result that there was.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// A call that may be completed later. XLA is told when the last one who has it lets go.
#[derive(Debug, Default)]
pub(crate) struct Call(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Somebody has a promise, or operands.
    begun: bool,
    answer: Option<Result<()>>,
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

impl Call {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
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

impl Drop for Call {
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
