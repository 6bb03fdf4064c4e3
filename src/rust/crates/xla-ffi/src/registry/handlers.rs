//! What is registered under a name: functions, and what they need around them.

use core::any::Any;
use core::ffi::{c_char, c_void};
use core::fmt;
use core::ptr;
use std::sync::Arc;

use super::slot::{Functions, STAGES};
use crate::sys;
use crate::version::HandlerFn;

/// The functions of a name, one for each stage that XLA shall call; made from one function, it
/// takes the execute stage.
pub struct Handlers {
    pub(super) functions: [Option<HandlerFn>; STAGES],
    pub(super) barrier: Option<&'static Barrier>,
    pub(super) keep: Option<Keep>,
    pub(super) data: *const (),
}

// SAFETY: `data` is that of an `Arc` of something `Send + Sync`, which `keep` holds; the rest is `Send`.
unsafe impl Send for Handlers {}

/// What must outlive the functions, such as the library that they are in.
pub(super) type Keep = Box<dyn Any + Send>;

/// What stands between foreign code and us: calls it and catches what it throws.
///
/// Rust cannot catch what another language throws, and XLA's threads end the process over it. A
/// program that has a C++ compiler can give the two functions.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// Calls a handler with a frame, writes what it returns, and returns `true`; where it throws,
    /// writes what, as text that ends in NUL and has at most that many bytes, and returns `false`.
    pub call: unsafe extern "C" fn(
        handler: HandlerFn,
        frame: *mut sys::XLA_FFI_CallFrame,
        error: *mut *mut sys::XLA_FFI_Error,
        thrown: *mut c_char,
        size: usize,
    ) -> bool,
    /// The same for a task on XLA's thread pool.
    pub run: unsafe extern "C" fn(
        task: sys::XLA_FFI_Task,
        data: *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool,
}

impl From<HandlerFn> for Handlers {
    fn from(execute: HandlerFn) -> Self {
        Handlers {
            functions: [None, None, None, Some(execute)],
            barrier: None,
            keep: None,
            data: ptr::null(),
        }
    }
}

impl From<sys::XLA_FFI_Handler_Bundle> for Handlers {
    fn from(bundle: sys::XLA_FFI_Handler_Bundle) -> Self {
        let (instantiate, prepare) = (bundle.instantiate, bundle.prepare);
        Handlers {
            functions: [instantiate, prepare, bundle.initialize, bundle.execute],
            barrier: None,
            keep: None,
            data: ptr::null(),
        }
    }
}

impl Handlers {
    /// Calls the functions, and the tasks that they give to XLA's thread pool, through a barrier.
    #[must_use]
    pub fn behind(mut self, barrier: &'static Barrier) -> Self {
        self.barrier = Some(barrier);
        self
    }

    /// Keeps `what` until the functions are replaced or withdrawn and no call of them is running
    /// any more. It is dropped by the thread that then changes the registry.
    #[must_use]
    pub fn keeping(mut self, what: impl Any + Send) -> Self {
        self.keep = Some(Box::new(what));
        self
    }

    /// Registers the functions together with `data`, which they ask for by [`registered_with`]. It
    /// is kept as by [`keeping`](Self::keeping).
    ///
    /// [`registered_with`]: super::registered_with
    #[must_use]
    pub fn with_data<T: Any + Send + Sync>(mut self, data: Arc<T>) -> Self {
        self.data = Arc::as_ptr(&data).cast();
        self.keeping(data)
    }

    pub(super) fn execute(&self) -> Option<HandlerFn> {
        self.functions[sys::XLA_FFI_ExecutionStage_EXECUTE as usize]
    }

    pub(super) fn addresses(&self) -> Functions {
        self.functions
            .map(|function| function.map_or(ptr::null_mut(), |f| f as *mut ()))
    }

    pub(super) fn barrier_address(&self) -> *mut () {
        let barrier = self.barrier.map_or(ptr::null(), ptr::from_ref);
        barrier.cast::<()>().cast_mut()
    }

    pub(super) fn stages(&self) -> [bool; STAGES] {
        self.functions.map(|function| function.is_some())
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("functions", &self.functions)
            .field("barrier", &self.barrier.is_some())
            .field("keep", &self.keep.is_some())
            .finish()
    }
}
