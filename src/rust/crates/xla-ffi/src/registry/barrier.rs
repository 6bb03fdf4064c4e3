//! Calls of foreign code behind its barrier.

use core::ffi::{c_char, c_void, CStr};
use core::mem::transmute;
use core::ptr;
use std::io::Write;

use super::current::within;
use super::handlers::Barrier;
use super::slot::{Installed, Running};
use super::state::Registry;
use crate::error::{Code, Error};
use crate::query::{asked, Answer};
use crate::report::report;
use crate::sys;
use crate::version::HandlerFn;

/// What a function answers to XLA's metadata query, asked [behind a barrier](Barrier).
///
/// # Safety
/// It is a handler, or may do whatever it does to this process.
pub unsafe fn metadata_behind(barrier: &'static Barrier, handler: HandlerFn) -> Answer {
    asked(|frame| {
        // SAFETY: by contract.
        unsafe { guarded(Some(barrier), handler, frame) }
    })
}

/// # Safety
/// `function` is one of `installed`'s; the rest as a [`HandlerFn`].
#[inline]
pub(super) unsafe fn enter(
    installed: &Installed,
    function: *mut (),
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: not null, so made of a `HandlerFn` by `Handlers`; the rest by contract.
    unsafe {
        let handler = transmute::<*mut (), HandlerFn>(function);
        guarded(barrier(installed), handler, frame)
    }
}

/// Calls a handler behind a barrier, if there is one.
///
/// # Safety
/// As a [`HandlerFn`].
#[inline]
pub(super) unsafe fn guarded(
    barrier: Option<&'static Barrier>,
    handler: HandlerFn,
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    match barrier {
        // SAFETY: XLA's frame, handed on to a handler.
        None => unsafe { handler(frame) },
        Some(barrier) => {
            let mut error = ptr::null_mut();
            let mut thrown: [c_char; THROWN] = [0; THROWN];
            // SAFETY: as above; places for what the barrier writes.
            let returned =
                unsafe { (barrier.call)(handler, frame, &mut error, thrown.as_mut_ptr(), THROWN) };
            if returned {
                return error;
            }
            let what = Error::new(Code::Internal, format!("threw {}", text(&thrown)));
            // SAFETY: the frame that the handler had.
            unsafe { report(frame, &what) }
        }
    }
}

impl Barrier {
    /// Calls foreign code, which may throw.
    ///
    /// # Errors
    /// What it threw, as [`Code::Internal`].
    ///
    /// # Safety
    /// `body` calls functions of other languages by an ABI that lets them unwind, and at that moment has
    /// nothing to drop. It does not panic.
    pub unsafe fn catch<R>(&self, body: impl FnOnce() -> R) -> Result<R, Error> {
        struct Task<F, R> {
            body: Option<F>,
            result: Option<R>,
        }
        unsafe extern "C-unwind" fn run<F: FnOnce() -> R, R>(task: *mut c_void) {
            // SAFETY: the task below, which is nobody else's meanwhile.
            let task = unsafe { &mut *task.cast::<Task<F, R>>() };
            task.result = task.body.take().map(|body| body());
        }
        fn start<F: FnOnce() -> R, R>(
            barrier: &Barrier,
            task: &mut Task<F, R>,
            thrown: &mut [c_char; THROWN],
        ) -> bool {
            type Unwinding = unsafe extern "C-unwind" fn(*mut c_void);
            // SAFETY: the two types differ in what may leave the function, and it is called by C++ only,
            // which knows no difference; the function fits the data.
            unsafe {
                let function = transmute::<Unwinding, sys::XLA_FFI_Task>(run::<F, R>);
                let data = ptr::from_mut(task).cast();
                (barrier.run)(function, data, thrown.as_mut_ptr(), THROWN)
            }
        }
        let mut thrown: [c_char; THROWN] = [0; THROWN];
        let mut task = Task {
            body: Some(body),
            result: None,
        };
        let returned = start(self, &mut task, &mut thrown);
        task.result
            .filter(|_| returned)
            .ok_or_else(|| Error::new(Code::Internal, format!("threw {}", text(&thrown))))
    }
}

/// How much is kept of what was thrown.
const THROWN: usize = 512;

fn text(thrown: &[c_char; THROWN]) -> String {
    // SAFETY: a byte is a byte; the array is read in full.
    let bytes = unsafe { &*ptr::from_ref(thrown).cast::<[u8; THROWN]>() };
    CStr::from_bytes_until_nul(bytes)
        .map_or_else(|_| "something".into(), CStr::to_string_lossy)
        .into_owned()
}

/// # Safety
/// `installed` is a slot's.
#[inline]
unsafe fn barrier(installed: &Installed) -> Option<&'static Barrier> {
    // SAFETY: null or a `&'static Barrier`, see `Handlers::barrier_address`.
    unsafe { installed.barrier().cast_const().cast::<Barrier>().as_ref() }
}

/// Runs a task of a handler's on a thread of XLA's pool.
///
/// # Safety
/// As a task.
pub(super) unsafe fn run_task(running: &Running, task: sys::XLA_FFI_Task, data: *mut c_void) {
    within(running, || {
        // SAFETY: a slot's.
        let Some(barrier) = (unsafe { barrier(running.installed()) }) else {
            // SAFETY: by contract.
            return unsafe { task(data) };
        };
        let mut thrown: [c_char; THROWN] = [0; THROWN];
        // SAFETY: by contract; a place for what the barrier writes.
        if !unsafe { (barrier.run)(task, data, thrown.as_mut_ptr(), THROWN) } {
            // No call is there to take an error, and XLA's thread must go on.
            let name = Registry::global().name(running.installed().slot());
            let warning = format!(
                "{name}: a task on XLA's thread pool threw {}\n",
                text(&thrown)
            );
            // At once, so that the line stays one beside what other threads write.
            let _ = std::io::stderr().write_all(warning.as_bytes());
        }
    });
}
