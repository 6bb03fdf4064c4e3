//! What a handler under check leaves for later: its futures are ours, which the check waits for, and
//! its tasks get threads of their own, as XLA's may all be waiting in checks.

use core::ffi::c_void;
use core::ptr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::scratch_source::ScratchSource;
use crate::float_mode::FloatMode;
use crate::sys;

thread_local! {
    static CHECKING: RefCell<Option<Arc<ScratchSource>>> = const { RefCell::new(None) };
}

/// Whether this thread runs a handler, or a task of one, that is being checked.
#[must_use]
pub fn checking() -> bool {
    // A thread that ends checks nothing.
    let checking = CHECKING.try_with(|checking| checking.borrow().is_some());
    checking.unwrap_or(false)
}

/// Where the scratch memory of that handler comes from.
pub(super) fn source() -> Option<Arc<ScratchSource>> {
    let source = CHECKING.try_with(|checking| checking.borrow().clone());
    source.ok().flatten()
}

/// Marks what this thread does as part of a check.
pub(super) fn within_check<R>(source: Arc<ScratchSource>, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Arc<ScratchSource>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CHECKING.replace(self.0.take());
        }
    }
    let _restore = Restore(CHECKING.replace(Some(source)));
    body()
}

/// What is known of a future of ours: `None` until it is complete, then the error or null.
type Futures = HashMap<usize, Option<Outcome>>;

#[derive(Clone, Copy)]
struct Outcome(*mut sys::XLA_FFI_Error);

// SAFETY: errors may be used on any thread, by one at a time.
unsafe impl Send for Outcome {}

struct Shared {
    futures: Mutex<Option<Futures>>,
    complete: Condvar,
}

static SHARED: Shared = Shared {
    futures: Mutex::new(None),
    complete: Condvar::new(),
};

/// How many futures of ours there are, so that completing XLA's need not look.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn futures() -> MutexGuard<'static, Option<Futures>> {
    SHARED
        .futures
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// A future for a handler under check. Its address is that of memory which is ours until it is
/// waited for, so no future of XLA's has it.
pub(in crate::registry) fn future_create() -> *mut sys::XLA_FFI_Future {
    let address = Box::into_raw(Box::new(0u64));
    COUNT.fetch_add(1, Ordering::Relaxed);
    futures()
        .get_or_insert_with(HashMap::new)
        .insert(address as usize, None);
    address.cast()
}

/// Completes a future with an error or null, if it is one of ours.
pub(in crate::registry) fn future_complete(
    future: *mut sys::XLA_FFI_Future,
    error: *mut sys::XLA_FFI_Error,
) -> bool {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let mut futures = futures();
    let place = futures
        .as_mut()
        .and_then(|futures| futures.get_mut(&(future as usize)));
    let Some(place) = place else {
        return false;
    };
    *place = Some(Outcome(error));
    SHARED.complete.notify_all();
    true
}

/// Waits until a future is complete: its error or null; `None` if it is none of ours.
pub(super) fn wait(future: *mut sys::XLA_FFI_Future) -> Option<*mut sys::XLA_FFI_Error> {
    let key = future as usize;
    let mut futures = futures();
    loop {
        match futures.as_mut()?.get(&key)? {
            &Some(Outcome(error)) => {
                futures.as_mut()?.remove(&key);
                COUNT.fetch_sub(1, Ordering::Relaxed);
                // SAFETY: made by `future_create`, and taken out once.
                drop(unsafe { Box::from_raw(future.cast::<u64>()) });
                return Some(error);
            }
            None => {
                let waited = SHARED.complete.wait(futures);
                futures = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// A task on its way to a thread.
struct Task {
    run: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// SAFETY: a task for a pool of threads, by XLA's contract with handlers.
unsafe impl Send for Task {}

/// Runs a task of a handler under check on a thread of its own; whether it is checked and there is one.
pub(in crate::registry) fn schedule(
    run: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> bool {
    let Some(source) = source() else {
        return false;
    };
    let task = Task { run, data };
    let mode = FloatMode::current();
    let body = move || {
        let Task { run, data } = { task };
        mode.set();
        // SAFETY: given to be run once, on any thread.
        within_check(source, || unsafe { run(data) });
    };
    thread::Builder::new().spawn(body).is_ok()
}

/// The text of an error, which is then freed.
///
/// # Safety
/// The frame's table, and an error of its host that was given to us.
pub(super) unsafe fn take_text(
    api: *const sys::XLA_FFI_Api,
    error: *mut sys::XLA_FFI_Error,
) -> String {
    use crate::context::api_fn;
    let mut text = String::from("(an error without a text)");
    if let Some(message) = api_fn!(api, XLA_FFI_Error_GetMessage) {
        let mut args = sys::XLA_FFI_Error_GetMessage_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_GetMessage_Args>(),
            extension_start: ptr::null_mut(),
            error,
            message: ptr::null(),
        };
        // SAFETY: a filled struct; the text ends in NUL and lives as long as the error.
        unsafe {
            message(&mut args);
            if !args.message.is_null() {
                let message = core::ffi::CStr::from_ptr(args.message);
                text = message.to_string_lossy().into_owned();
            }
        }
    }
    if let Some(destroy) = api_fn!(api, XLA_FFI_Error_Destroy) {
        let mut args = sys::XLA_FFI_Error_Destroy_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_Destroy_Args>(),
            extension_start: ptr::null_mut(),
            error,
        };
        // SAFETY: a filled struct, and nobody else has the error.
        unsafe { destroy(&mut args) };
    }
    text
}
