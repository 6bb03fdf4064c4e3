//! Calls of compiled programs, laid out once for each place that calls.

mod cached;
mod table;

pub(crate) use cached::{CachedCall, Kept};
pub(crate) use table::CallCache;
