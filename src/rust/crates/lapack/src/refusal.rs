//! What a routine says of its arguments.

use crate::error::{Error, Result, NO_LIBRARY, NO_MEMORY};
use crate::int::Int;
use crate::library;

/// A negative `info` blames an argument of ours, or says that the routine was not called.
///
/// # Errors
/// It is negative.
#[inline]
pub fn refuse_negative(info: Int, routine: &'static str) -> Result<()> {
    if info >= 0 {
        return Ok(());
    }
    Err(refusal(info, routine))
}

#[cold]
fn refusal(info: Int, routine: &'static str) -> Error {
    match info {
        // Should one have been found since, the call is none the less without a result.
        NO_LIBRARY => library::choose().err().unwrap_or(Error::NoLibrary {
            asked: None,
            refused: Vec::new(),
        }),
        NO_MEMORY => Error::NoCopy,
        _ => Error::Refused {
            routine,
            argument: info.unsigned_abs(),
        },
    }
}
