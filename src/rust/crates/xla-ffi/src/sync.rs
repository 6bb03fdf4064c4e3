//! What threads meet in. `tools/loom` compiles the files that use it with loom's in its place, and
//! tries every order of what they do.

#[cfg(feature = "registry")]
pub(crate) use core::sync::atomic;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
