//! What buffers hold: how much it is, and whether it is there.

use std::time::Duration;

use pjrt::Buffer;
use pjrt_jaxlib::python::blocking;

use crate::r::failure::{Failure, Outcome};
use crate::runtime::serve::while_serving;

/// Bytes of a buffer's elements.
pub fn size(buffer: &Buffer) -> usize {
    buffer.num_elements() * buffer.dtype().size()
}

/// Waits for so long at most, and serves programs that need R; whether the contents are there. What
/// is waited for may need Python's lock, which reticulate makes R's thread keep.
pub fn wait(buffer: &Buffer, limit: Duration) -> Outcome<bool> {
    // Most are there.
    if buffer.wait_timeout(Duration::ZERO)? {
        return Ok(true);
    }
    let done = while_serving(limit, |left| {
        let done = blocking(|| buffer.wait_unless(left, main_thread::has_work))?;
        Ok(done.then_some(()))
    })?;
    if done.is_none() && main_thread::is_serving() && !limit.is_zero() && buffer.is_taken()? {
        return Err(Failure::new(
            "FAILED_PRECONDITION",
            "a program that runs may take the buffer's memory for a result: the R function that it calls cannot read it",
        ));
    }
    Ok(done.is_some())
}
