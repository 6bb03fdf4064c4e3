//! Which registered handler the current thread is in.

use core::cell::Cell;
use core::ptr;

use super::slot::{Installed, Running};

thread_local! {
    static CURRENT: Cell<*const Installed> = const { Cell::new(ptr::null()) };
}

/// Runs `body` as part of a call of that handler.
#[inline]
pub(super) fn within<R>(running: &Running, body: impl FnOnce() -> R) -> R {
    /// Puts back what was current, a panic or not.
    struct Restore(*const Installed);
    impl Drop for Restore {
        #[inline]
        fn drop(&mut self) {
            CURRENT.with(|current| current.set(self.0));
        }
    }
    let outer = CURRENT.with(|current| current.replace(running.installed()));
    let _restore = Restore(outer);
    body()
}

/// The handler that this thread is in, which is counted as running for as long.
pub(super) fn current() -> Option<&'static Installed> {
    // SAFETY: null, or set by `within` to one of those that are never freed.
    unsafe { CURRENT.with(Cell::get).as_ref() }
}
