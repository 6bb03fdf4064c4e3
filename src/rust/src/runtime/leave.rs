//! The end of the process while programs run, as after Ctrl-C. C++ takes its objects apart when a process ends, and
//! XLA's threads go on and use them: the process died by that, after all that R had to do was done. So it ends at once
//! where programs run, without taking anything apart.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What other threads of ours do at this moment.
static JOBS: AtomicUsize = AtomicUsize::new(0);

/// Whether XLA's own threads ran programs when R's session ended.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Work of another thread, for as long as this lives.
pub struct Working(());

impl Working {
    pub fn new() -> Self {
        JOBS.fetch_add(1, Ordering::Relaxed);
        Working(())
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        JOBS.fetch_sub(1, Ordering::Release);
    }
}

/// Tells, at the end of R's session, that XLA's own threads run programs.
pub fn note_running() {
    LEFT.store(true, Ordering::Relaxed);
}

/// To be called when a plugin has been loaded: what is registered last is called first.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn watch() {
    use std::ffi::{c_int, c_void};

    extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn leave(status: c_int, _: *mut c_void) {
        if JOBS.load(Ordering::Acquire) > 0 || LEFT.load(Ordering::Relaxed) {
            // SAFETY: C's own functions, which may be called while the process ends; all of C's files are flushed first.
            unsafe {
                libc::fflush(std::ptr::null_mut());
                libc::_exit(status)
            }
        }
    }
    // SAFETY: glibc's function keeps a pointer to code, which stays: this library is never unloaded. Where it has no
    // room for it, nothing is registered.
    unsafe { on_exit(leave, std::ptr::null_mut()) };
}

/// Elsewhere C has no function that is told the status with which the process ends.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn watch() {}
