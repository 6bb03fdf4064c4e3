//! What programs call in place of the handler that they name, where `prepare.py` has changed them.
//! The name is in an attribute behind all others.
//!
//! [`ORDERED`] keeps calls in the order of the program. XLA orders side effects by data flow alone,
//! and the word for order in a program is the token: a value that one call returns and the next one
//! takes. Handlers know nothing of tokens. So such a call has a token behind its operands, and one
//! behind its results, which are taken away here, with the name, before the rest is passed on.
//!
//! [`GUARDED`] is called in programs over several devices, for `guard.rs`.
//!
//! [`MISSING`] fails. It is in branches for other platforms.

use crate::base::attend::on_its_thread;
use crate::cluster::guard;
use crate::cluster::guard::GUARDED;
use crate::handlers::stages::find;
use programs::contains;
use xla_ffi::sys::{
    XLA_FFI_AttrType_STRING, XLA_FFI_ByteSpan, XLA_FFI_CallFrame, XLA_FFI_Error,
    XLA_FFI_ExecutionStage_EXECUTE, XLA_FFI_ExecutionStage_INSTANTIATE, XLA_FFI_Handler,
};
use xla_ffi::{raw, Code, Error};

pub(crate) const ORDERED: &str = "xlaffi.ordered";
pub(crate) const MISSING: &str = "xlaffi.missing";
/// The attribute that names the handler. XLA sorts attributes by name, and no text in UTF-8 comes
/// after this one: it is the last, and can be cut off.
const ATTRIBUTE: &str = "\u{10ffff}";

/// Before that name: the handler is one of another host, and runs on the thread of the host that serves the program.
const ON_SERVED: char = '\u{10fffe}';

/// Whether a run over several devices knows of calls of this handler.
pub(crate) fn is_seen(target: &str) -> bool {
    [ORDERED, MISSING, GUARDED].contains(&target)
}

/// Whether a serialised program has calls that its host serves. XLA keeps attributes as MLIR writes them.
pub(crate) fn are_served(code: &[u8]) -> bool {
    let mut bytes = [0; 4];
    let name = ON_SERVED.encode_utf8(&mut bytes).as_bytes();
    let written: String = name.iter().map(|byte| format!("\\{byte:02X}")).collect();
    contains(code, name) || contains(code, written.as_bytes())
}

/// The handler of [`ORDERED`].
///
/// # Safety
/// `frame` is XLA's: a call that `prepare.py` wrote, or a metadata query.
pub(crate) unsafe extern "C" fn ordered(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    // SAFETY: by this function's contract.
    unsafe { pass_on(frame, ORDERED, 1) }
}

/// The handler of [`GUARDED`].
///
/// # Safety
/// As for [`ordered`].
pub(crate) unsafe extern "C" fn guarded(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    // SAFETY: by this function's contract.
    unsafe { pass_on(frame, GUARDED, 0) }
}

/// Calls the handler that was meant, without the name and so many tokens; in all stages that it has.
///
/// # Safety
/// As for [`ordered`].
unsafe fn pass_on(
    frame: *mut XLA_FFI_CallFrame,
    own: &'static str,
    tokens: i64,
) -> *mut XLA_FFI_Error {
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
    let target = unsafe { target(&inner) };
    let is_served = target.is_some_and(|target| target.starts_with(ON_SERVED));
    let target = target.map(|target| target.trim_start_matches(ON_SERVED));
    let stage = inner.stage;
    if stage != XLA_FFI_ExecutionStage_EXECUTE {
        inner.attrs.size -= 1;
        let handler = target.and_then(find).and_then(|stages| stages.at(stage));
        return match handler {
            // SAFETY: a handler that XLA accepted, with the frame of its own call, here and below.
            Some(handler) if is_served => unsafe { call_served(handler, &mut inner, target) },
            // SAFETY: as above.
            Some(handler) if stage == XLA_FFI_ExecutionStage_INSTANTIATE => unsafe {
                handler(&mut inner)
            },
            // SAFETY: as above.
            Some(handler) => unsafe { guard::call(handler, &mut inner) },
            None => std::ptr::null_mut(),
        };
    }
    let target = target.filter(|_| inner.args.size >= tokens && inner.rets.size >= tokens);
    inner.attrs.size -= 1;
    inner.args.size -= tokens;
    inner.rets.size -= tokens;
    let handler = |target| find(target).and_then(|stages| stages.at(stage));
    match target.map(|target| (target, handler(target))) {
        Some((_, Some(handler))) => {
            // SAFETY: a handler that XLA accepted, with the frame of its own call.
            let error = unsafe {
                match is_served {
                    true => call_served(handler, &mut inner, target),
                    false => guard::call(handler, &mut inner),
                }
            };
            if !inner.future.is_null() {
                // SAFETY: as above; a frame that ends before that field has none.
                unsafe { (*frame).future = inner.future };
            }
            error
        }
        Some((target, None)) => {
            let text = format!("no handler `{target}` was registered with the CPU plugin");
            // SAFETY: as above.
            unsafe { raw::report(frame, &Error::new(Code::NotFound, text)) }
        }
        // SAFETY: as above.
        None => unsafe { raw::report(frame, &not_ours(own)) },
    }
}

/// Calls another host's handler on the thread of the host that serves its program.
///
/// # Safety
/// As for [`guard::call`].
unsafe fn call_served(
    handler: XLA_FFI_Handler,
    frame: &mut XLA_FFI_CallFrame,
    target: Option<&str>,
) -> *mut XLA_FFI_Error {
    struct Sent(*mut XLA_FFI_CallFrame, *mut XLA_FFI_Error);
    // SAFETY: this thread waits for the other one, which alone has the frame meanwhile.
    unsafe impl Send for Sent {}
    let run_id = guard::run_id(frame);
    let mut sent = Sent(frame, std::ptr::null_mut());
    let all = &mut sent;
    let done = on_its_thread(run_id, &mut || {
        // The whole of it, which may be sent
        let Sent(frame, error) = &mut *all;
        // SAFETY: by this function's contract; the frame lives until this function returns.
        *error = unsafe {
            match (**frame).stage {
                stage if stage == XLA_FFI_ExecutionStage_INSTANTIATE => handler(*frame),
                _ => guard::call(handler, &mut **frame),
            }
        };
    });
    match done {
        Ok(()) => sent.1,
        Err(why) => {
            let text = format!(
                "the handler `{}` of another host {why}",
                target.unwrap_or_default()
            );
            // SAFETY: as above.
            unsafe { raw::report(frame, &Error::new(Code::Cancelled, text)) }
        }
    }
}

/// The handler of [`MISSING`].
///
/// # Safety
/// As for [`ordered`].
pub(crate) unsafe extern "C" fn missing(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    // SAFETY: by this function's contract, here and below.
    if frame.is_null() || unsafe { raw::answer_metadata(frame, 0) } {
        return std::ptr::null_mut();
    }
    // SAFETY: as above.
    let error = match unsafe { target(&*frame) } {
        Some(target) => Error::new(
            Code::NotFound,
            format!(
                "no handler `{target}` is registered for the CPU: the program is for several \
                 platforms, and its platform index chose another one"
            ),
        ),
        None => not_ours(MISSING),
    };
    // SAFETY: as above.
    unsafe { raw::report(frame, &error) }
}

fn not_ours(target: &'static str) -> Error {
    Error::new(
        Code::InvalidArgument,
        "it is called by programs that the CPU plugin has changed, and by no others",
    )
    .with_op(target)
}

/// The name of the handler that was meant, where the last attribute is that name.
///
/// # Safety
/// `frame` is XLA's, or a copy of it, and outlives the name.
unsafe fn target<'a>(frame: &XLA_FFI_CallFrame) -> Option<&'a str> {
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
    (name == ATTRIBUTE.as_bytes()).then(|| std::str::from_utf8(target).ok())?
}
