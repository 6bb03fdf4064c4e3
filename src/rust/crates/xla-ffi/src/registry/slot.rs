//! One name's handler, and how to take it away while other threads call it.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use core::time::Duration;

use crate::entry::HandlerFn;

/// Two cells, of which `current` (1 or 2) is the one in use, or [`NONE`].
///
/// A call counts itself into the current cell and then makes sure that the cell is still current. A
/// change first makes the other cell (or none) current and then waits until the old cell's count is
/// 0. Both sides write one variable and then read the other's, sequentially consistent: either the
/// change sees the call's count, or the call sees the change. New calls count in the other cell, so
/// the wait ends however busy the name is.
pub(super) struct Slot {
    current: AtomicUsize,
    cells: [Cell; 2],
}

struct Cell {
    /// A [`HandlerFn`]; written only while the cell is not current.
    handler: AtomicPtr<()>,
    running: AtomicUsize,
}

/// 0, so that slots which nobody uses take no room in the file.
const NONE: usize = 0;

/// Counts out on drop.
pub(super) struct Running<'a> {
    cell: &'a Cell,
    handler: HandlerFn,
}

impl Running<'_> {
    #[inline]
    pub(super) fn handler(&self) -> HandlerFn {
        self.handler
    }
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        self.cell.running.fetch_sub(1, SeqCst);
    }
}

impl Cell {
    const fn new() -> Self {
        Cell {
            handler: AtomicPtr::new(ptr::null_mut()),
            running: AtomicUsize::new(0),
        }
    }
}

impl Slot {
    pub(super) const fn new() -> Self {
        Slot {
            current: AtomicUsize::new(NONE),
            cells: [Cell::new(), Cell::new()],
        }
    }

    #[inline]
    fn cell(&self, current: usize) -> Option<&Cell> {
        self.cells.get(current.wrapping_sub(1))
    }

    /// Counts a call in; `None` where there is no handler.
    #[inline]
    pub(super) fn enter(&self) -> Option<Running<'_>> {
        loop {
            let current = self.current.load(SeqCst);
            let cell = self.cell(current)?;
            cell.running.fetch_add(1, SeqCst);
            if self.current.load(SeqCst) == current {
                let handler = cell.handler.load(SeqCst);
                // SAFETY: a current cell holds a `HandlerFn`, and it stays while we are counted.
                let handler = unsafe { core::mem::transmute::<*mut (), HandlerFn>(handler) };
                return Some(Running { cell, handler });
            }
            cell.running.fetch_sub(1, SeqCst);
        }
    }

    /// Changes or takes away the handler; returns when no call of the old one is running. One
    /// change at a time.
    pub(super) fn set(&self, handler: Option<HandlerFn>) {
        let old = self.current.load(SeqCst);
        let new = match handler {
            None => NONE,
            Some(handler) => {
                let at = usize::from(old == 1);
                self.cells[at].handler.store(handler as *mut (), SeqCst);
                at + 1
            }
        };
        self.current.store(new, SeqCst);
        let Some(old) = self.cell(old) else {
            return;
        };
        let mut spins = 0u32;
        while old.running.load(SeqCst) != 0 {
            spins += 1;
            match spins {
                0..=100 => std::hint::spin_loop(),
                101..=200 => std::thread::yield_now(),
                _ => std::thread::sleep(Duration::from_micros(100)),
            }
        }
    }
}
