//! Calls of handlers in the order of the program.
//!
//! XLA orders side effects by data flow alone, and the word for order in a program is the token: a
//! value that one call returns and the next one takes. Handlers know nothing of tokens. So
//! `prepare.py` sends a call that is to be kept in order to [`TARGET`], with a token behind its
//! operands, one behind its results, and the handler's name in an attribute; what is here takes
//! these three away and passes the rest on.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use xla_ffi::sys::{
    XLA_FFI_AttrType_STRING, XLA_FFI_ByteSpan, XLA_FFI_CallFrame, XLA_FFI_Error, XLA_FFI_Handler,
};
use xla_ffi::{raw, Code, Error};

/// What such calls go to.
pub(crate) const TARGET: &str = "xlaffi.ordered";
/// The attribute that names the handler. XLA sorts attributes by name, and no text in UTF-8 comes
/// after this one: it is the last, and can be cut off.
pub(crate) const ATTRIBUTE: &str = "\u{10ffff}";

static HANDLERS: RwLock<Option<HashMap<String, XLA_FFI_Handler>>> = RwLock::new(None);

/// Remembers a handler that XLA has accepted.
pub(crate) fn remember(target: &str, handler: XLA_FFI_Handler) {
    HANDLERS
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_with(HashMap::new)
        .insert(target.to_owned(), handler);
}

fn find(target: &[u8]) -> Option<XLA_FFI_Handler> {
    let target = std::str::from_utf8(target).ok()?;
    let handlers = HANDLERS.read().unwrap_or_else(PoisonError::into_inner);
    handlers.as_ref()?.get(target).copied()
}

/// The handler of [`TARGET`].
///
/// # Safety
/// `frame` is XLA's: a call that `prepare.py` wrote, or a metadata query.
pub(crate) unsafe extern "C" fn handler(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    // SAFETY: by this function's contract, here and below.
    if frame.is_null() || unsafe { raw::answer_metadata(frame, 0) } {
        return std::ptr::null_mut();
    }
    // SAFETY: as above. The copy is as long as what this crate knows of; a shorter frame ends with
    // a field that handlers look for only where `struct_size` says that it is there.
    let mut inner = unsafe {
        let known = std::mem::size_of::<XLA_FFI_CallFrame>().min((*frame).struct_size);
        let mut copy = std::mem::MaybeUninit::<XLA_FFI_CallFrame>::zeroed();
        std::ptr::copy_nonoverlapping(frame.cast::<u8>(), copy.as_mut_ptr().cast(), known);
        let mut copy = copy.assume_init();
        copy.struct_size = known;
        copy
    };
    // SAFETY: as above.
    let Some(target) = (unsafe { cut(&mut inner) }) else {
        let error = Error::new(
            Code::InvalidArgument,
            "not a call that the CPU plugin wrote",
        );
        // SAFETY: as above.
        return unsafe { raw::report(frame, &error.with_op(TARGET)) };
    };
    match find(target) {
        // SAFETY: a handler that XLA accepted, with the frame of its own call.
        Some(handler) => unsafe { handler(&mut inner) },
        None => {
            let target = String::from_utf8_lossy(target).into_owned();
            let error = Error::new(
                Code::NotFound,
                format!("no handler `{target}` was registered with the CPU plugin"),
            );
            // SAFETY: as above.
            unsafe { raw::report(frame, &error.with_op(TARGET)) }
        }
    }
}

/// Takes the tokens and the name away; the name, or `None` where they are not there.
///
/// # Safety
/// `frame` is a copy of XLA's.
unsafe fn cut<'a>(frame: &mut XLA_FFI_CallFrame) -> Option<&'a [u8]> {
    let last = usize::try_from(frame.attrs.size).ok()?.checked_sub(1)?;
    // SAFETY: the frame's arrays have as many elements as their sizes say, and an attribute of type
    // string is a span.
    let (name, target) = unsafe {
        if *frame.attrs.types.add(last) != XLA_FFI_AttrType_STRING {
            return None;
        }
        let span = |span: *const XLA_FFI_ByteSpan| {
            std::slice::from_raw_parts((*span).ptr.cast::<u8>(), (*span).len)
        };
        (
            span(*frame.attrs.names.add(last)),
            span((*frame.attrs.attrs.add(last)).cast()),
        )
    };
    if name != ATTRIBUTE.as_bytes() || frame.args.size < 1 || frame.rets.size < 1 {
        return None;
    }
    frame.attrs.size -= 1;
    frame.args.size -= 1;
    frame.rets.size -= 1;
    Some(target)
}
