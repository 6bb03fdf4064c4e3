//! R code whose jumps must not go further: under a handler on R's own thread, and in R's event loop.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::r::unwind;

extern "C-unwind" {
    /// Of R: runs a function, and comes back where it jumps.
    fn R_ToplevelExec(body: extern "C-unwind" fn(*mut c_void), data: *mut c_void) -> c_int;
}

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a jump of what R's thread does now ends in [`contained`].
pub fn is_contained() -> bool {
    CONTAINED.get()
}

/// Whether jumps are contained from here on, until this is dropped.
pub struct Mode(bool);

impl Mode {
    /// Sets it.
    pub fn set(is_contained: bool) -> Self {
        Mode(CONTAINED.replace(is_contained))
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        CONTAINED.set(self.0);
    }
}

/// Runs `body` on R's thread; a jump of R's ends here. False if there was one.
pub fn contained(body: impl FnOnce()) -> bool {
    extern "C-unwind" fn run<F: FnOnce()>(data: *mut c_void) {
        // SAFETY: `contained` passes its own closure, which is taken this once.
        let body = unsafe { (*data.cast::<Option<F>>()).take() };
        let result = catch_unwind(AssertUnwindSafe(|| body.map(|body| body())));
        let Err(payload) = result else {
            return;
        };
        let jumps = unwind::is_jump(&*payload);
        drop(payload);
        if jumps {
            // SAFETY: the panic is gone, and nothing else is in this frame; behind it is C.
            unsafe { unwind::go_on() }
        }
    }
    fn start<F: FnOnce()>(body: &mut Option<F>) -> bool {
        // SAFETY: R's thread, by contract of this module; the function fits the data.
        unsafe { R_ToplevelExec(run::<F>, std::ptr::from_mut(body).cast()) != 0 }
    }
    let _mode = Mode::set(true);
    start(&mut Some(body))
}
