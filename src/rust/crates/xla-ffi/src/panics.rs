//! What a panic throws, as an error.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::error::{Code, Error};

#[cold]
pub(crate) fn panic_error(payload: Box<dyn Any + Send>) -> Error {
    let text = if let Some(text) = payload.downcast_ref::<&'static str>() {
        format!("panicked: {text}")
    } else if let Some(text) = payload.downcast_ref::<String>() {
        format!("panicked: {text}")
    } else {
        "panicked: (no message)".to_owned()
    };
    discard(payload);
    Error::new(Code::Internal, text)
}

/// Drops what a panic threw, which may panic in its turn.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        let is_text = next.is::<&'static str>() || next.is::<String>();
        if !is_text {
            // Once is enough: what it threw while it was dropped is given up.
            core::mem::forget(next);
        }
    }
}
