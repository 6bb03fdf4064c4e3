//! One name's handlers, and how to change them while other threads call them.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use core::ptr;

/// How many stages XLA calls a handler in.
pub(super) const STAGES: usize = 4;

/// The functions of a name, one for each of XLA's stages, null where there is none.
pub(super) type Functions = [*mut (); STAGES];

/// What a name calls now.
///
/// A call counts itself into the current [`Installed`] and then makes sure that it is still
/// current. A change first makes another one (or none) current and then looks at the old one's
/// count, by an operation that reads and writes it. So either the change sees the call's count, or
/// the call counts itself in after that operation, and sees the change. (`tools/loom` tries it.)
pub(super) struct Slot {
    pub(super) current: AtomicPtr<Installed>,
}

/// Functions that are or were a slot's, and how many threads are in them. It is never freed, so
/// that a call may count itself in before it knows whether that is still right; once it is neither
/// current nor running it is used [again](Installed::reuse).
pub(super) struct Installed {
    /// Written only while it is neither current nor running.
    functions: [AtomicPtr<()>; STAGES],
    barrier: AtomicPtr<()>,
    data: AtomicPtr<()>,
    slot: AtomicUsize,
    running: AtomicUsize,
    /// How often it was used again.
    epoch: AtomicUsize,
}

/// Counts out on drop.
pub(super) struct Running {
    installed: &'static Installed,
}

impl Running {
    /// What runs.
    #[inline]
    pub(super) fn installed(&self) -> &'static Installed {
        self.installed
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        self.installed.running.fetch_sub(1, SeqCst);
    }
}

impl Installed {
    /// One that nobody calls yet.
    pub(super) fn new() -> Self {
        Installed {
            functions: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            barrier: AtomicPtr::new(ptr::null_mut()),
            data: AtomicPtr::new(ptr::null_mut()),
            slot: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            epoch: AtomicUsize::new(0),
        }
    }

    /// Takes other functions. Only while it is in no slot and [`running`](Self::running) is 0.
    pub(super) fn reuse(&self, slot: usize, functions: Functions, barrier: *mut (), data: *mut ()) {
        self.epoch.fetch_add(1, SeqCst);
        for (place, function) in self.functions.iter().zip(functions) {
            place.store(function, SeqCst);
        }
        self.barrier.store(barrier, SeqCst);
        self.data.store(data, SeqCst);
        self.slot.store(slot, SeqCst);
    }

    /// The function of a stage, null where there is none.
    #[inline]
    pub(super) fn function(&self, stage: usize) -> *mut () {
        match self.functions.get(stage) {
            Some(function) => function.load(SeqCst),
            None => ptr::null_mut(),
        }
    }

    /// What stands between the functions and their caller, null for nothing.
    #[inline]
    pub(super) fn barrier(&self) -> *mut () {
        self.barrier.load(SeqCst)
    }

    /// What the functions were registered with, null for nothing.
    #[inline]
    pub(super) fn data(&self) -> *mut () {
        self.data.load(SeqCst)
    }

    /// The number of its slot.
    pub(super) fn slot(&self) -> usize {
        self.slot.load(SeqCst)
    }

    /// How many threads are in its functions, or will be. Once it is no longer current, 0 is for
    /// ever.
    pub(super) fn running(&self) -> usize {
        // Writes, too, so that a call that counts itself in later comes after this.
        self.running.fetch_add(0, SeqCst)
    }

    /// How often it was used again: what was counted before another epoch is over.
    pub(super) fn epoch(&self) -> usize {
        self.epoch.load(SeqCst)
    }

    /// Counts something in that will run later, on behalf of a call that is running now.
    pub(super) fn count_in(&'static self) -> Running {
        self.running.fetch_add(1, SeqCst);
        Running { installed: self }
    }
}

impl Slot {
    /// Counts a call in; `None` where there is no handler.
    #[inline]
    pub(super) fn enter(&self) -> Option<Running> {
        loop {
            let current = self.current.load(SeqCst);
            // SAFETY: null, or given to `set` and so never freed.
            let installed: &'static Installed = unsafe { current.as_ref() }?;
            let running = installed.count_in();
            if self.current.load(SeqCst) == current {
                return Some(running);
            }
        }
    }

    /// Makes that one current, or none. Calls of the old one go on.
    pub(super) fn set(&self, installed: Option<&'static Installed>) {
        let new = installed.map_or(ptr::null(), ptr::from_ref);
        self.current.store(new.cast_mut(), SeqCst);
    }
}
