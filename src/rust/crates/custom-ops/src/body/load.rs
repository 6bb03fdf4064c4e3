//! Code of the user's that runs once its library is loaded.

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
    let call = abi::Call::without_arrays(message.buffer());
    // SAFETY: the caller's promise: the text is there until the call is over, and ends in NUL.
    unsafe {
        let code = body(&call);
        message.outcome(code)
    }
}
