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

/// What the handler that this thread is in was registered with, see
/// [`Handlers::with_data`](super::Handlers::with_data); null where that is nothing.
#[inline]
#[must_use]
pub fn registered_with() -> *const () {
    // SAFETY: as in `current`.
    let installed = unsafe { CURRENT.with(Cell::get).as_ref() };
    installed.map_or(ptr::null(), |installed| installed.data().cast_const())
}

/// The handler that this thread is in, which is counted as running for as long.
pub(super) fn current() -> Option<&'static Installed> {
    // SAFETY: null, or set by `within` to one of those that are never freed.
    unsafe { CURRENT.with(Cell::get).as_ref() }
}
