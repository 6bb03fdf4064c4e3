//! Calls that are complete only some time after their handler has returned.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;
use std::sync::Arc;

use crate::completion::Completion;
use crate::dims::RankCheck;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::frame::CallFrame;
use crate::operand::{Arg, Ret};

/// A field of an operand struct, for a body that returns before its results are there: the call goes
/// on until its [`Promise`] is answered and every operand that was kept is dropped.
///
/// ```
/// use xla_ffi::{io, Arg, Cx, Host, Kernel, Pending, Op, Result, Ret, Untyped};
///
/// io! {
///     struct SlowIo<'f> { x: Arg<'f, f64>, y: Ret<'f, f64>, pending: Pending<'f> }
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
///         let (x, mut y) = (io.pending.keep(io.x)?, io.pending.keep_mut(io.y)?);
///         let promise = io.pending.promise();
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
pub struct Pending<'f> {
    call: Arc<Completion>,
    // Exactly the lifetime of the frame: operands of no other call can be kept for this one.
    _frame: PhantomData<fn(&'f ()) -> &'f ()>,
}

impl<'f> CallFrame<'f> {
    /// What completes the call after the handler has returned.
    ///
    /// # Errors
    /// XLA has no futures.
    pub fn pending(&mut self) -> Result<Pending<'f>> {
        Completion::is_possible(&self.context())?;
        let call = self.completion.get_or_insert_with(Arc::default);
        Ok(Pending::new(Arc::clone(call)))
    }
}

impl<'f> Pending<'f> {
    fn new(call: Arc<Completion>) -> Self {
        Pending {
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

    fn begin(&self) -> Arc<Completion> {
        self.call.lock().begun = true;
        Arc::clone(&self.call)
    }
}

/// Completes a call that its handler has left.
#[derive(Debug)]
pub struct Promise {
    call: Arc<Completion>,
}

impl Promise {
    /// Says what the call came to. XLA hears of it when the operands that were kept are dropped.
    pub fn complete(self, outcome: Result<()>) {
        self.call.lock().answer.get_or_insert(outcome);
    }
}

// SAFETY: like `&[T]`; the call is complete only when this is gone.
unsafe impl<T: Sync> Send for KeptArg<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for KeptArg<T> {}

macro_rules! kept {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<T> {
            data: NonNull<T>,
            len: usize,
            _call: Arc<Completion>,
        }

        impl<T> Deref for $name<T> {
            type Target = [T];

            fn deref(&self) -> &[T] {
                // SAFETY: a slice of an operand; XLA keeps it until the call is complete, and `_call`
                // keeps the call from being so.
                unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
            }
        }
    )*};
}

kept! {
    /// The elements of an argument that outlive the handler's return; see [`Pending::keep`].
    KeptArg;
    /// The elements of a result that outlive the handler's return; see [`Pending::keep_mut`].
    KeptRet;
}

// SAFETY: like `&mut [T]`; the call is complete only when this is gone.
unsafe impl<T: Send> Send for KeptRet<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for KeptRet<T> {}

impl<T> DerefMut for KeptRet<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for an argument; made of the only result that there was.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}
