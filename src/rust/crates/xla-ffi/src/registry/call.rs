//! A call on its way through a trampoline: counted, in a table of services that counts and names
//! what the handler does, behind its barrier.

use core::ffi::{c_char, c_void, CStr};
use core::mem::{offset_of, transmute};
use core::ptr;
use std::io::Write;

use super::current::within;
use super::handlers::Barrier;
use super::services;
use super::slot::{Installed, Running};
use super::{watch, Registry};
use crate::entry::{answer_metadata, asked_metadata, report, HandlerFn};
use crate::error::{Code, Error};
use crate::sys;

/// # Safety
/// As a [`HandlerFn`]; `frame` is not null.
#[inline]
pub(super) unsafe fn call(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the head of every frame is complete.
    unsafe {
        if !(*frame).extension_start.is_null() && asked_metadata(frame).is_some() {
            return metadata(running, frame);
        }
        let stage = if (*frame).struct_size > offset_of!(sys::XLA_FFI_CallFrame, args) {
            (*frame).stage
        } else {
            sys::XLA_FFI_ExecutionStage_EXECUTE
        };
        let function = running.installed().function(stage as usize);
        if function.is_null() {
            return no_stage(running, frame, stage);
        }
        let api = (*frame).api;
        (*frame).api = services::table(api);
        let error = within(running, || match watch::watched() {
            false => enter(running.installed(), function, frame),
            true => watch::call(running, function, frame, stage),
        });
        (*frame).api = api;
        error
    }
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
            let told = format!(
                "{name}: a task on XLA's thread pool threw {}\n",
                text(&thrown)
            );
            // At once, so that the line stays one beside what other threads write.
            let _ = std::io::stderr().write_all(told.as_bytes());
        }
    });
}

/// Answers with what the handler itself answers: version and traits are those of its execute
/// function, the type of its state that of its instantiate function.
///
/// # Safety
/// `frame` is XLA's, with a metadata query.
#[cold]
unsafe fn metadata(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let installed = running.installed();
    let stages = [
        sys::XLA_FFI_ExecutionStage_INSTANTIATE,
        sys::XLA_FFI_ExecutionStage_EXECUTE,
    ];
    for stage in stages {
        let function = installed.function(stage as usize);
        if function.is_null() {
            continue;
        }
        // SAFETY: by contract, and the slot's function.
        let error = unsafe { enter(installed, function, frame) };
        if !error.is_null() {
            return error;
        }
    }
    // SAFETY: by contract.
    unsafe { Registry::global().told(installed.slot(), frame) };
    ptr::null_mut()
}

/// # Safety
/// `frame` is XLA's.
#[cold]
unsafe fn no_stage(
    running: &Running,
    frame: *mut sys::XLA_FFI_CallFrame,
    stage: sys::XLA_FFI_ExecutionStage,
) -> *mut sys::XLA_FFI_Error {
    let name = Registry::global().name(running.installed().slot());
    let what = Error::invalid_argument(format!("{name}: there is no handler for stage {stage}"));
    // SAFETY: by contract.
    unsafe { report(frame, &what) }
}

/// What a call gets that finds no handler. Programs with the name may still be compiled.
///
/// # Safety
/// As a [`HandlerFn`]; `frame` is not null.
#[cold]
pub(super) unsafe fn no_handler(
    frame: *mut sys::XLA_FFI_CallFrame,
    slot: usize,
) -> *mut sys::XLA_FFI_Error {
    let registry = Registry::global();
    // SAFETY: by contract.
    unsafe {
        if answer_metadata(frame, registry.last_traits(slot)) {
            return ptr::null_mut();
        }
        report(frame, &registry.unregistered(slot))
    }
}
