//! Whether this process was forked from one in which XLA had started threads.
//!
//! A forked child (`parallel::mclapply()`) has one thread and a copy of the memory. What was locked
//! by other threads stays locked, what they were to do is never done, and the handles of the parent
//! mean nothing. So the host and the plugin call [`started`] before they start threads or Python,
//! and ask [`is_child`] before they touch anything that came of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;

/// What failed, for an error's message.
pub const MESSAGE: &str =
    "XLA was used before this process was forked, and cannot be used in the child";

/// What to do about it.
pub const HINT: &str = "Use processes that start afresh, as callr, mirai and \
    `parallel::makeCluster()` make them, or start XLA only in the children.";

static CHILD: AtomicBool = AtomicBool::new(false);

/// Tells that threads or Python are about to start: children forked from now on are marked.
pub fn started() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(watch);
}

/// Whether this process is a child that was forked after [`started`], or a child of one.
#[inline]
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

#[cfg(unix)]
fn watch() {
    extern "C" fn mark() {
        CHILD.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic, which a child may do whatever other threads
    // held when it was forked. Where it cannot be registered (no memory), children are not marked.
    unsafe { libc::pthread_atfork(None, None, Some(mark)) };
}

/// No processes are forked here.
#[cfg(not(unix))]
fn watch() {}
