//! What threads meet in, for the files that `tools/loom` compiles with loom's in its place.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
