//! The functions that XLA is given: one per slot, made at compile time.

use core::ptr;

use super::call::{call, no_handler};
use super::slots::{CAPACITY, SLOTS};
use crate::sys;
use crate::version::HandlerFn;

/// # Safety
/// As a [`HandlerFn`].
unsafe extern "C" fn trampoline<const SLOT: usize>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract.
    unsafe { enter(frame, SLOT) }
}

/// What all trampolines jump to: `extern "C"` as they are, so that a jump it is.
///
/// # Safety
/// As a [`HandlerFn`].
#[inline(never)]
unsafe extern "C" fn enter(
    frame: *mut sys::XLA_FFI_CallFrame,
    slot: usize,
) -> *mut sys::XLA_FFI_Error {
    if frame.is_null() {
        return ptr::null_mut();
    }
    match SLOTS[slot].enter() {
        // SAFETY: XLA's frame, handed on.
        Some(running) => unsafe { call(&running, frame) },
        // SAFETY: as above.
        None => unsafe { no_handler(frame, slot) },
    }
}

macro_rules! row {
    ($($base:literal)*) => {
        [$([
            trampoline::<{ $base * 32 }>, trampoline::<{ $base * 32 + 1 }>,
            trampoline::<{ $base * 32 + 2 }>, trampoline::<{ $base * 32 + 3 }>,
            trampoline::<{ $base * 32 + 4 }>, trampoline::<{ $base * 32 + 5 }>,
            trampoline::<{ $base * 32 + 6 }>, trampoline::<{ $base * 32 + 7 }>,
            trampoline::<{ $base * 32 + 8 }>, trampoline::<{ $base * 32 + 9 }>,
            trampoline::<{ $base * 32 + 10 }>, trampoline::<{ $base * 32 + 11 }>,
            trampoline::<{ $base * 32 + 12 }>, trampoline::<{ $base * 32 + 13 }>,
            trampoline::<{ $base * 32 + 14 }>, trampoline::<{ $base * 32 + 15 }>,
            trampoline::<{ $base * 32 + 16 }>, trampoline::<{ $base * 32 + 17 }>,
            trampoline::<{ $base * 32 + 18 }>, trampoline::<{ $base * 32 + 19 }>,
            trampoline::<{ $base * 32 + 20 }>, trampoline::<{ $base * 32 + 21 }>,
            trampoline::<{ $base * 32 + 22 }>, trampoline::<{ $base * 32 + 23 }>,
            trampoline::<{ $base * 32 + 24 }>, trampoline::<{ $base * 32 + 25 }>,
            trampoline::<{ $base * 32 + 26 }>, trampoline::<{ $base * 32 + 27 }>,
            trampoline::<{ $base * 32 + 28 }>, trampoline::<{ $base * 32 + 29 }>,
            trampoline::<{ $base * 32 + 30 }>, trampoline::<{ $base * 32 + 31 }>,
        ]),*]
    };
}

/// The trampoline of each slot.
pub(super) struct Trampolines([[HandlerFn; 32]; CAPACITY / 32]);

pub(super) static TRAMPOLINES: Trampolines = Trampolines(row! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
});

impl Trampolines {
    /// The one of slot `index`, below [`CAPACITY`].
    pub(super) fn get(&self, index: usize) -> HandlerFn {
        self.0[index / 32][index % 32]
    }

    /// The slot of a function, if it is one of these.
    pub(super) fn slot_of(&self, function: HandlerFn) -> Option<usize> {
        let is_it = |trampoline: &HandlerFn| *trampoline as usize == function as usize;
        self.0.iter().flatten().position(is_it)
    }
}
