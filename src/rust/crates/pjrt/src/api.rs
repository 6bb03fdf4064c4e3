//! The one place where functions of a plugin's table are called.

use crate::barrier;
use crate::error::{Code, Error, Kind, Result};
use crate::lost;
use pjrt_api::*;
use std::ffi::c_char;

/// A plugin's function table, checked once; valid for the rest of the process.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: *const PJRT_Api,
    size: usize,
}

// SAFETY: a plugin's table is constant, its library is never unloaded, and the API allows calls
// from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// Calls a function of the table: `call!(api, PJRT_Event_Await(args))`. A table too short to hold
/// it or a NULL in its place is `UNIMPLEMENTED`, with the function's name; a returned error is
/// taken over and freed. In a forked child nothing is called, and nothing that a lost device would have to do. To be used inside `unsafe`: the pointers in `args` must be what the
/// function wants.
macro_rules! call {
    ($api:expr, $function:ident($args:ident)) => {{
        let api: $crate::api::Api = $api;
        let offset = std::mem::offset_of!(pjrt_api::PJRT_Api, $function);
        let function = if api.holds(offset) {
            (*api.table()).$function
        } else {
            None
        };
        match function {
            _ if fork::is_child() => Err($crate::error::Error::forked()),
            Some(f) => $crate::lost::check(api.table() as usize, stringify!($function))
                .and_then(|()| $crate::barrier::answer(stringify!($function), f, &mut $args))
                .and_then(|error| api.check(stringify!($function), error)),
            None => Err($crate::error::Error::missing_function(stringify!(
                $function
            ))),
        }
    }};
}
pub(crate) use call;

impl Api {
    /// Checks that the table can be used at all.
    ///
    /// # Safety
    /// `table` is NULL or points to a table that stays valid and unchanged for the rest of the
    /// process, whatever its version.
    pub(crate) unsafe fn new(table: *const PJRT_Api, label: &str) -> Result<Self> {
        let not_a_plugin = |why: &str| {
            Error::new(
                Kind::NotAPlugin,
                Code::FAILED_PRECONDITION,
                format!("`{label}` is not a PJRT plugin: {why}"),
            )
        };
        if table.is_null() {
            return Err(not_a_plugin("its GetPjrtApi returned NULL"));
        }
        // SAFETY: every version of the table starts with its size.
        let size = unsafe { (*table).struct_size };
        if size < API_HEADER_SIZE {
            return Err(not_a_plugin(&format!(
                "its function table says it is {size} bytes long"
            )));
        }
        let api = Self { table, size };
        let (major, minor) = api.version();
        if major != API_MAJOR {
            return Err(Error::new(
                Kind::IncompatibleVersion,
                Code::FAILED_PRECONDITION,
                format!(
                    "the plugin `{label}` has PJRT API version {major}.{minor}; \
                     this host needs {API_MAJOR}.x"
                ),
            ));
        }
        Ok(api)
    }

    pub(crate) fn table(self) -> *const PJRT_Api {
        self.table
    }

    /// Whether the table is long enough to have a function at `offset`.
    pub(crate) fn holds(self, offset: usize) -> bool {
        PJRT_Api::holds(self.size, offset)
    }

    pub(crate) fn version(self) -> (i32, i32) {
        // SAFETY: `new` checked that the table is long enough for its version.
        let v = unsafe { (*self.table).pjrt_api_version };
        (v.major_version, v.minor_version)
    }

    /// The first extension of that type which is at least `size` bytes long.
    pub(crate) fn extension<T: CStruct>(
        self,
        kind: PJRT_Extension_Type,
        size: usize,
    ) -> Option<*const T> {
        // SAFETY: `new` checked that the table is long enough for this field.
        let mut next = unsafe { (*self.table).extension_start };
        // A bound on the walk, should a broken plugin have tied a loop.
        for _ in 0..256 {
            if next.is_null() {
                return None;
            }
            // SAFETY: not NULL, so by the API's contract an extension, which starts with this.
            let base = unsafe { *next };
            if base.r#type == kind && base.struct_size >= size {
                return Some(next.cast::<T>());
            }
            next = base.next;
        }
        None
    }

    /// Turns a returned error into ours and frees it.
    pub(crate) fn check(self, call: &'static str, error: *mut PJRT_Error) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        Err(self.take(call, error))
    }

    fn take(self, call: &'static str, error: *mut PJRT_Error) -> Error {
        let mut message = PJRT_Error_Message_Args::new();
        message.error = error;
        let mut code = PJRT_Error_GetCode_Args::new();
        code.error = error;
        let mut destroy = PJRT_Error_Destroy_Args::new();
        destroy.error = error;
        // SAFETY: `error` is a live error of this plugin, ours to free; the message is copied
        // before. These three are the first in the table: `holds` guards against a shorter one.
        unsafe {
            let has = |offset| self.holds(offset);
            let text = match (*self.table).PJRT_Error_Message {
                Some(f) if has(std::mem::offset_of!(PJRT_Api, PJRT_Error_Message)) => {
                    match barrier::done("PJRT_Error_Message", f, &mut message) {
                        Ok(()) => string(message.message, message.message_size),
                        Err(thrown) => thrown.message().to_owned(),
                    }
                }
                _ => "the plugin cannot tell its errors' messages".to_string(),
            };
            let code = match (*self.table).PJRT_Error_GetCode {
                Some(f) if has(std::mem::offset_of!(PJRT_Api, PJRT_Error_GetCode)) => {
                    match barrier::answer("PJRT_Error_GetCode", f, &mut code) {
                        Ok(error) if error.is_null() => Code(code.code.0),
                        _ => Code::UNKNOWN,
                    }
                }
                _ => Code::UNKNOWN,
            };
            if has(std::mem::offset_of!(PJRT_Api, PJRT_Error_Destroy)) {
                if let Some(f) = (*self.table).PJRT_Error_Destroy {
                    // An error at that has nobody to go to.
                    let _ = barrier::done("PJRT_Error_Destroy", f, &mut destroy);
                }
            }
            lost::note(self.table as usize, &text);
            Error::from_plugin(call, code, text)
        }
    }
}

/// Copies a string that a plugin lent. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `data` is NULL or readable for `size` bytes.
pub(crate) unsafe fn string(data: *const c_char, size: usize) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { slice(data.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A slice that a plugin lent; empty where the pointer is NULL.
///
/// # Safety
/// `data` is NULL or points to `len` valid values that outlive the result.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not NULL, and the caller's promise.
    unsafe { std::slice::from_raw_parts(data, len) }
}
