//! XLA's table with functions of our own that make errors and futures, and end these.

use super::api::{destroy, function};
use super::results::Memory;
use crate::base::error::Error;
use crate::run::state::Busy;
use pjrt_api::PJRT_Error_Code;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::mem::{offset_of, size_of};
use std::ptr::{addr_of, null_mut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use xla_ffi::sys::{self, XLA_FFI_Api, XLA_FFI_Error, XLA_FFI_Error_Code};

thread_local! {
    /// The last error that a handler has made on this thread: XLA tells its text only.
    static MADE: RefCell<Option<(XLA_FFI_Error_Code, String)>> = const { RefCell::new(None) };
    /// The call that this thread is in the middle of.
    static CURRENT: RefCell<Option<Going>> = const { RefCell::new(None) };
}

/// A call that goes on after its handler has returned, as one of R's functions does.
pub(super) struct Going {
    pub run: Busy,
    pub device: i64,
    pub results: Vec<Memory>,
}

/// Notes the call that this thread is about to make.
pub(super) fn begin(going: Going) {
    // They are there on a thread that calls handlers.
    let _ = CURRENT.try_with(|current| current.replace(Some(going)));
    let _ = MADE.try_with(RefCell::take);
}

/// The call has returned; it may go on with a future.
pub(super) fn end() {
    let _ = CURRENT.try_with(RefCell::take);
}

/// By the addresses of the futures that XLA waits for.
static GOING: Mutex<BTreeMap<usize, Going>> = Mutex::new(BTreeMap::new());

fn going() -> MutexGuard<'static, BTreeMap<usize, Going>> {
    GOING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// XLA's table with other functions that make errors and futures, and end these.
struct Watching {
    original: *const XLA_FFI_Api,
    /// As many words as the original has, which may be more than are known here.
    copy: Box<[usize]>,
}

// SAFETY: tables are constant, and their functions may be called from any thread.
unsafe impl Send for Watching {}
// SAFETY: as above.
unsafe impl Sync for Watching {}

static WATCHING: OnceLock<Watching> = OnceLock::new();

/// The table that remembers errors; any other than the first one stays as it is.
pub(super) fn watching(api: *const XLA_FFI_Api) -> *const XLA_FFI_Api {
    if function!(api, XLA_FFI_Error_Create).is_none() {
        return api;
    }
    let watching = WATCHING.get_or_init(|| {
        // SAFETY: the table is as long as its first field says, and constant.
        let mut copy: Box<[usize]> = unsafe {
            let words = addr_of!((*api).struct_size).read() / size_of::<usize>();
            std::slice::from_raw_parts(api.cast::<usize>(), words).into()
        };
        let own = [
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Error_Create),
                create as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_Create),
                create_future as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_SetAvailable),
                set_available as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_SetError),
                set_error as *const () as usize,
            ),
        ];
        for (offset, function) in own {
            if let Some(word) = copy.get_mut(offset / size_of::<usize>()) {
                *word = function;
            }
        }
        Watching {
            original: api,
            copy,
        }
    });
    match std::ptr::eq(watching.original, api) {
        true => watching.copy.as_ptr().cast(),
        false => api,
    }
}

fn original() -> *const XLA_FFI_Api {
    WATCHING.get().map_or(std::ptr::null(), |w| w.original)
}

unsafe extern "C" fn create(args: *mut sys::XLA_FFI_Error_Create_Args) -> *mut XLA_FFI_Error {
    let Some(create) = function!(original(), XLA_FFI_Error_Create) else {
        return null_mut();
    };
    // SAFETY: the caller's struct, as XLA's function takes it.
    unsafe {
        if let Some(args) = args.as_ref().filter(|args| !args.message.is_null()) {
            let text = CStr::from_ptr(args.message).to_string_lossy().into_owned();
            // Gone at the end of a thread: then nobody asks.
            let _ = MADE.try_with(|made| made.replace(Some((args.errc, text))));
        }
        create(args)
    }
}

unsafe extern "C" fn create_future(
    args: *mut sys::XLA_FFI_Future_Create_Args,
) -> *mut XLA_FFI_Error {
    let Some(create) = function!(original(), XLA_FFI_Future_Create) else {
        return null_mut();
    };
    // SAFETY: as in `create`.
    let error = unsafe { create(args) };
    let current = CURRENT.try_with(RefCell::take).ok().flatten();
    if let (true, Some(current)) = (error.is_null(), current) {
        // SAFETY: as above; the function has filled it in.
        going().insert(unsafe { (*args).future } as usize, current);
    }
    error
}

unsafe extern "C" fn set_available(
    args: *mut sys::XLA_FFI_Future_SetAvailable_Args,
) -> *mut XLA_FFI_Error {
    // SAFETY: as in `create`.
    let known = going().remove(&(unsafe { (*args).future } as usize));
    drop(known);
    match function!(original(), XLA_FFI_Future_SetAvailable) {
        // SAFETY: as above.
        Some(set) => unsafe { set(args) },
        None => null_mut(),
    }
}

unsafe extern "C" fn set_error(args: *mut sys::XLA_FFI_Future_SetError_Args) -> *mut XLA_FFI_Error {
    // SAFETY: as in `create`.
    let (future, error) = unsafe { ((*args).future, (*args).error) };
    let known = going().remove(&(future as usize));
    let set_available = function!(original(), XLA_FFI_Future_SetAvailable);
    let (Some(call), Some(set_available)) = (known, set_available) else {
        return match function!(original(), XLA_FFI_Future_SetError) {
            // SAFETY: as above.
            Some(set) => unsafe { set(args) },
            None => null_mut(),
        };
    };
    let mut args = sys::XLA_FFI_Future_SetAvailable_Args {
        struct_size: size_of::<sys::XLA_FFI_Future_SetAvailable_Args>(),
        extension_start: null_mut(),
        future,
    };
    // SAFETY: the error is given up by the caller; the memory is the call's until its future has ended, which it does
    // here, by XLA's function.
    unsafe {
        call.run.fail(call.device, described(original(), error));
        destroy(original(), error);
        call.results.iter().for_each(|memory| memory.clear());
        set_available(&mut args)
    }
}

/// What an error says.
///
/// # Safety
/// `error` is of that table's XLA.
pub(super) unsafe fn described(api: *const XLA_FFI_Api, error: *mut XLA_FFI_Error) -> Error {
    let made = MADE.try_with(RefCell::take).ok().flatten();
    let (code, text) = made.unwrap_or_else(|| {
        let mut args = sys::XLA_FFI_Error_GetMessage_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_GetMessage_Args>(),
            extension_start: null_mut(),
            error,
            message: std::ptr::null(),
        };
        if let Some(message) = function!(api, XLA_FFI_Error_GetMessage) {
            // SAFETY: XLA's function with the struct that it takes.
            unsafe { message(&mut args) };
        }
        let text = match args.message.is_null() {
            true => "a handler failed without a message".into(),
            // SAFETY: XLA's text, which ends with zero and lives as long as the error.
            false => unsafe { CStr::from_ptr(args.message) }.to_string_lossy(),
        };
        (PJRT_Error_Code::INTERNAL.0 as i32, text.into_owned())
    });
    Error {
        code: PJRT_Error_Code(code as _),
        message: text,
        own: false,
    }
}
