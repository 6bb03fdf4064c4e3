//! XLA's table of services as registered handlers see it: what they schedule is counted as running,
//! and their errors say which custom call they come from.
//!
//! The handler may be in another library and another language; what it does through the table it was
//! given is all that can be known of it.

use core::ffi::{c_void, CStr};
use core::mem::{offset_of, size_of};
use core::ptr;
use core::sync::atomic::Ordering;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use super::barrier::run_task;
use super::current::current;
use super::futures;
use super::slot::Running;
use super::state::Registry;
use super::tables::{stands_for, xla, Table, KNOWN, TABLES};
use super::watch;
use crate::context::api_fn;
use crate::sys;

/// The table to call a handler with in place of XLA's.
///
/// # Safety
/// `api` is null, XLA's table, which lives as long as the process, or one that this returned.
#[inline]
pub(super) unsafe fn table(api: *const sys::XLA_FFI_Api) -> *const sys::XLA_FFI_Api {
    // SAFETY: null, or leaked by `make`.
    if let Some(first) = unsafe { KNOWN[0].load(Ordering::Acquire).as_ref() } {
        if stands_for(first, api) {
            return first.ours;
        }
    }
    // SAFETY: by contract.
    unsafe { find_or_make(api) }
}

/// # Safety
/// As [`table`].
#[cold]
unsafe fn find_or_make(api: *const sys::XLA_FFI_Api) -> *const sys::XLA_FFI_Api {
    static MAKING: Mutex<()> = Mutex::new(());
    if api.is_null() {
        return api;
    }
    let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    for (place, hooks) in KNOWN.iter().zip(HOOKS) {
        // SAFETY: null, or leaked by `make`.
        match unsafe { place.load(Ordering::Acquire).as_ref() } {
            Some(table) if stands_for(table, api) => return table.ours,
            Some(_) => {}
            None => {
                // SAFETY: by contract.
                let table = unsafe { make(api, hooks) };
                place.store(ptr::from_ref(table).cast_mut(), Ordering::Release);
                return table.ours;
            }
        }
    }
    api
}

/// # Safety
/// As [`table`].
unsafe fn make(api: *const sys::XLA_FFI_Api, hooks: &Hooks) -> &'static Table {
    // SAFETY: by contract: a live table of the size that it says.
    let size = unsafe { (*api).struct_size };
    // A newer XLA's table is longer than ours, an older one's shorter.
    let words = size
        .max(size_of::<sys::XLA_FFI_Api>())
        .div_ceil(size_of::<u64>());
    let ours: *mut u64 = Box::leak(vec![0u64; words].into_boxed_slice()).as_mut_ptr();
    let ours = ours.cast::<sys::XLA_FFI_Api>();
    const _: () = assert!(align_of::<sys::XLA_FFI_Api>() <= align_of::<u64>());
    let has_errors = api_fn!(api, XLA_FFI_Error_Create).is_some();
    let has_futures = api_fn!(api, XLA_FFI_Future_SetError).is_some();
    let has_pool = api_fn!(api, XLA_FFI_ThreadPool_Schedule).is_some();
    // SAFETY: `size` bytes fit; a function is replaced only where XLA has it.
    unsafe {
        ptr::copy_nonoverlapping(api.cast::<u8>(), ours.cast::<u8>(), size);
        if has_errors {
            (*ours).XLA_FFI_Error_Create = Some(hooks.error_create);
        }
        if has_pool {
            (*ours).XLA_FFI_ThreadPool_Schedule = Some(hooks.schedule);
        }
        if has_futures {
            (*ours).XLA_FFI_Future_Create = Some(hooks.future_create);
            (*ours).XLA_FFI_Future_SetAvailable = Some(hooks.future_set_available);
            (*ours).XLA_FFI_Future_SetError = Some(hooks.future_set_error);
        }
    }
    Box::leak(Box::new(Table { xla: api, ours }))
}

/// Our functions in the table at one place of [`KNOWN`].
struct Hooks {
    error_create: sys::XLA_FFI_Error_Create,
    schedule: sys::XLA_FFI_ThreadPool_Schedule,
    future_create: sys::XLA_FFI_Future_Create,
    future_set_available: sys::XLA_FFI_Future_SetAvailable,
    future_set_error: sys::XLA_FFI_Future_SetError,
}

const fn hooks<const TABLE: usize>() -> Hooks {
    Hooks {
        error_create: error_create::<TABLE>,
        schedule: schedule::<TABLE>,
        future_create: futures::create::<TABLE>,
        future_set_available: futures::set_available::<TABLE>,
        future_set_error: futures::set_error::<TABLE>,
    }
}

static HOOKS: [&Hooks; TABLES] = [&hooks::<0>(), &hooks::<1>(), &hooks::<2>(), &hooks::<3>()];

/// Puts the custom call before the message, unless the message starts with it.
unsafe extern "C" fn error_create<const TABLE: usize>(
    args: *mut sys::XLA_FFI_Error_Create_Args,
) -> *mut sys::XLA_FFI_Error {
    let Some(create) = api_fn!(xla::<TABLE>(), XLA_FFI_Error_Create) else {
        return ptr::null_mut();
    };
    const COMPLETE: usize =
        offset_of!(sys::XLA_FFI_Error_Create_Args, errc) + size_of::<sys::XLA_FFI_Error_Code>();
    // SAFETY: the API's contract: a filled struct, and a message that ends in NUL; XLA copies it.
    unsafe {
        if (*args).struct_size < COMPLETE || (*args).message.is_null() {
            return create(args);
        }
        let message = CStr::from_ptr((*args).message);
        let named = current().and_then(|installed| {
            Registry::global().named(installed.slot(), &message.to_string_lossy())
        });
        let Some(named) = named.and_then(|text| CString::new(text).ok()) else {
            return create(args);
        };
        let mut args = sys::XLA_FFI_Error_Create_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_Create_Args>(),
            message: named.as_ptr(),
            ..*args
        };
        create(&mut args)
    }
}

/// A task that counts as running from when it is scheduled.
struct Counted {
    task: sys::XLA_FFI_Task,
    data: *mut c_void,
    running: Running,
}

unsafe extern "C" fn run_counted(counted: *mut c_void) {
    // SAFETY: from `schedule`, which gives each to one task.
    let counted = unsafe { Box::from_raw(counted.cast::<Counted>()) };
    // SAFETY: the handler scheduled it, to be run once.
    unsafe { run_task(&counted.running, counted.task, counted.data) };
}

unsafe extern "C" fn schedule<const TABLE: usize>(
    args: *mut sys::XLA_FFI_ThreadPool_Schedule_Args,
) -> *mut sys::XLA_FFI_Error {
    let Some(schedule) = api_fn!(xla::<TABLE>(), XLA_FFI_ThreadPool_Schedule) else {
        return ptr::null_mut();
    };
    const COMPLETE: usize = size_of::<sys::XLA_FFI_ThreadPool_Schedule_Args>();
    // SAFETY: the API's contract: a filled struct.
    unsafe {
        let (Some(installed), true) = (current(), (*args).struct_size >= COMPLETE) else {
            // From a thread of the handler's own, or not as we know it: XLA's business.
            return schedule(args);
        };
        let Some(task) = (*args).task else {
            return schedule(args);
        };
        let counted = Box::into_raw(Box::new(Counted {
            task,
            data: (*args).data,
            running: installed.count_in(),
        }));
        if watch::schedule(run_counted, counted.cast()) {
            return ptr::null_mut();
        }
        let mut args = sys::XLA_FFI_ThreadPool_Schedule_Args {
            struct_size: COMPLETE,
            task: Some(run_counted),
            data: counted.cast(),
            ..*args
        };
        let error = schedule(&mut args);
        if !error.is_null() {
            // XLA did not take it, so it is still ours.
            drop(Box::from_raw(counted));
        }
        error
    }
}
