//! The places of handlers.

use core::ptr;

use super::slot::Slot;
use crate::sync::atomic::AtomicPtr;

/// How many different names can be registered in the life of the process.
pub const CAPACITY: usize = 1024;

pub(super) static SLOTS: [Slot; CAPACITY] = [const {
    Slot {
        current: AtomicPtr::new(ptr::null_mut()),
    }
}; CAPACITY];
