//! Threads that a host can do without: nobody waits for the thread itself.

use super::error::Error;
use std::cell::RefCell;
use std::sync::Arc;

type Tell = Arc<dyn Fn(Error) + Send + Sync>;

thread_local! {
    static TELL: RefCell<Option<Tell>> = const { RefCell::new(None) };
}

/// Runs `work`, for which this thread may call XLA for several devices: it may never come back from there. Where such
/// a run is given up, `tell` gets the error, on another thread. Elsewhere the plugin has a thread of its own for these
/// calls, which has to be woken up.
pub fn expendable<T>(tell: impl Fn(Error) + Send + Sync + 'static, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Tell>);
    impl Drop for Restore {
        fn drop(&mut self) {
            TELL.set(self.0.take());
        }
    }
    let _restore = Restore(TELL.replace(Some(Arc::new(tell))));
    work()
}

/// Who is told on behalf of this thread, where it can be done without.
pub(crate) fn told() -> Option<Tell> {
    TELL.with_borrow(Clone::clone)
}
