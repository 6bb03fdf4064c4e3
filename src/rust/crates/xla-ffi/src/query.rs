//! XLA's question to a handler, asked without XLA: which version, which traits?

use core::cell::Cell;
use core::ffi::CStr;
use core::mem::size_of;
use core::ptr;
use std::ffi::CString;

use crate::version::{HandlerFn, FRAME_SIZE};
use crate::{sys, Traits};

/// What a handler answers to XLA's metadata query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// FFI major and minor version.
    pub version: (i32, i32),
    /// Traits.
    pub traits: Traits,
}

/// What came of asking a function for its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// A handler's answer.
    Metadata(Metadata),
    /// An error: a handler, of a version that expects another frame.
    Error(String),
    /// Neither: no handler that XLA would take.
    Silence,
}

/// Asks a handler for its metadata, as XLA does before any call; `None` if it does not answer.
///
/// # Safety
/// It is a handler.
pub unsafe fn metadata(handler: HandlerFn) -> Option<Metadata> {
    // SAFETY: by contract.
    match unsafe { asked(|frame| handler(frame)) } {
        Answer::Metadata(metadata) => Some(metadata),
        _ => None,
    }
}

/// As [`metadata`]; `call` calls the handler.
pub(crate) fn asked(
    call: impl FnOnce(*mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error,
) -> Answer {
    const UNANSWERED: i32 = -1;
    let mut metadata = sys::XLA_FFI_Metadata {
        struct_size: size_of::<sys::XLA_FFI_Metadata>(),
        api_version: sys::XLA_FFI_Api_Version {
            struct_size: size_of::<sys::XLA_FFI_Api_Version>(),
            extension_start: ptr::null_mut(),
            major_version: UNANSWERED,
            minor_version: UNANSWERED,
        },
        traits: 0,
        state_type_id: sys::XLA_FFI_UNKNOWN_TYPE_ID,
    };
    let answer = ptr::addr_of_mut!(metadata);
    let mut question = sys::XLA_FFI_Metadata_Extension {
        extension_base: sys::XLA_FFI_Extension_Base {
            struct_size: size_of::<sys::XLA_FFI_Metadata_Extension>(),
            type_: sys::XLA_FFI_Extension_Metadata,
            next: ptr::null_mut(),
        },
        metadata: answer,
    };
    let mut frame = frame();
    frame.extension_start = ptr::addr_of_mut!(question).cast();
    let error = call(&mut frame);
    if !error.is_null() {
        // What is no handler may return anything.
        if CREATED.get() != error {
            return Answer::Silence;
        }
        // SAFETY: made by `error_create`, and given away.
        let error = unsafe { Box::from_raw(error.cast::<CString>()) };
        return Answer::Error(error.to_string_lossy().into_owned());
    }
    // SAFETY: the handler is through with it.
    let metadata = unsafe { answer.read() };
    let version = metadata.api_version;
    match (version.major_version, version.minor_version) {
        (UNANSWERED, _) => Answer::Silence,
        version => Answer::Metadata(Metadata {
            version,
            traits: Traits::from_bits(metadata.traits),
        }),
    }
}

/// A call without operands, on a host that has errors and nothing else.
fn frame() -> sys::XLA_FFI_CallFrame {
    sys::XLA_FFI_CallFrame {
        // C++ handlers insist on the very size that XLA has.
        struct_size: FRAME_SIZE,
        extension_start: ptr::null_mut(),
        api: &API,
        ctx: ptr::null_mut(),
        // What XLA puts there; a query need not be of any stage.
        stage: sys::XLA_FFI_ExecutionStage_INSTANTIATE,
        args: sys::XLA_FFI_Args {
            struct_size: size_of::<sys::XLA_FFI_Args>(),
            extension_start: ptr::null_mut(),
            size: 0,
            types: ptr::null_mut(),
            args: ptr::null_mut(),
        },
        rets: sys::XLA_FFI_Rets {
            struct_size: size_of::<sys::XLA_FFI_Rets>(),
            extension_start: ptr::null_mut(),
            size: 0,
            types: ptr::null_mut(),
            rets: ptr::null_mut(),
        },
        attrs: sys::XLA_FFI_Attrs {
            struct_size: size_of::<sys::XLA_FFI_Attrs>(),
            extension_start: ptr::null_mut(),
            size: 0,
            types: ptr::null_mut(),
            names: ptr::null_mut(),
            attrs: ptr::null_mut(),
        },
        future: ptr::null_mut(),
    }
}

thread_local! {
    /// The error that was made last.
    static CREATED: Cell<*mut sys::XLA_FFI_Error> = const { Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn error_create(
    args: *mut sys::XLA_FFI_Error_Create_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the API's contract: a filled struct, and a message that ends in NUL.
    let message = unsafe { CStr::from_ptr((*args).message) };
    let error = Box::into_raw(Box::new(message.to_owned())).cast();
    CREATED.set(error);
    error
}

unsafe extern "C" fn error_message(args: *mut sys::XLA_FFI_Error_GetMessage_Args) {
    // SAFETY: the API's contract: a filled struct and a live error of `error_create`.
    unsafe {
        let message: &CString = &*(*args).error.cast_const().cast::<CString>();
        (*args).message = message.as_ptr();
    }
}

unsafe extern "C" fn error_destroy(args: *mut sys::XLA_FFI_Error_Destroy_Args) {
    // SAFETY: the API's contract: a filled struct and an error that nobody uses any more.
    drop(unsafe { Box::from_raw((*args).error.cast::<CString>()) });
}

static API: sys::XLA_FFI_Api = sys::XLA_FFI_Api {
    XLA_FFI_Error_Create: Some(error_create),
    XLA_FFI_Error_GetMessage: Some(error_message),
    XLA_FFI_Error_Destroy: Some(error_destroy),
    ..sys::XLA_FFI_Api::EMPTY
};
