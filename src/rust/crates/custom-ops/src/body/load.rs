//! Code of the user's that runs once its library is loaded.

use core::mem::size_of;
use core::ptr;

use xla_ffi::Result;

use super::abi;
use super::message::Message;

/// Runs it: a [`Body`](abi::Body) that is given no arrays, no dimensions and no attributes.
///
/// # Errors
/// What it returns.
///
/// # Safety
/// It is such a function.
pub unsafe fn load(body: abi::Body) -> Result<()> {
    let mut message = Message::default();
    let (text, size) = message.buffer();
    let call = abi::Call {
        size: size_of::<abi::Call>(),
        buffers: ptr::null(),
        dims: ptr::null(),
        attributes: ptr::null(),
        state: ptr::null_mut(),
        batch: 0,
        message: text,
        message_size: size,
    };
    // SAFETY: the caller's promise: the text is there until the call is over, and ends in NUL.
    unsafe {
        let code = body(&call);
        message.outcome(code)
    }
}
