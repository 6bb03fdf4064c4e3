//! XLA's tables of services that handlers have been called with.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::sys;

/// One for each XLA in the process, and a plugin brings its own. Handlers under more than these
/// get XLA's own table.
pub(super) const TABLES: usize = 4;

/// XLA's table, and the copy of it in which some functions are ours. Never freed.
pub(super) struct Table {
    pub(super) xla: *const sys::XLA_FFI_Api,
    pub(super) ours: *const sys::XLA_FFI_Api,
}

pub(super) static KNOWN: [AtomicPtr<Table>; TABLES] =
    [const { AtomicPtr::new(ptr::null_mut()) }; TABLES];

/// Handlers called by way of another handler have one of ours already.
#[inline]
pub(super) fn stands_for(table: &Table, api: *const sys::XLA_FFI_Api) -> bool {
    table.xla == api || table.ours == api
}

/// XLA's table behind the one that this function of ours was found in.
pub(super) fn xla<const TABLE: usize>() -> *const sys::XLA_FFI_Api {
    // SAFETY: our functions are only in tables that are known, and those are never freed.
    unsafe { (*KNOWN[TABLE].load(Ordering::Acquire)).xla }
}
