//! R functions that programs call.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An R function as the body of an op.
pub struct Callback {
    /// Under which R keeps it.
    pub number: i32,
    /// Whether it takes a batch in one call.
    pub vectorized: bool,
    /// How long a program waits for an R that does something else.
    pub patience: Duration,
}

/// Numbers of functions whose ops are gone.
static RELEASED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

impl Drop for Callback {
    fn drop(&mut self) {
        let released = &mut RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
        released.push(self.number);
    }
}

/// Those numbers, once.
pub fn released() -> Vec<i32> {
    let mut released = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *released)
}
