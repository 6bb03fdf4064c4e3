//! Python's lock, and the calls that need it.

use super::start::Running;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::marker::PhantomData;

type Deferred = Box<dyn FnOnce()>;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static DEFERRED: RefCell<Vec<Deferred>> = const { RefCell::new(Vec::new()) };
}

/// Proof that this thread holds Python's lock. It stays on the thread: there it is given back, and
/// on another one it would prove nothing.
pub struct Gil {
    pub py: &'static Running,
    state: c_int,
    of_this_thread: PhantomData<*const ()>,
}

/// Does not compile where [`Gil`] could be sent or lent to another thread: then `_` has two answers.
const _: () = {
    trait OneOf<Question> {
        const ASKED: () = ();
    }
    struct CanBeSent;
    struct CanBeShared;
    impl<T> OneOf<()> for T {}
    impl<T: Send> OneOf<CanBeSent> for T {}
    impl<T: Sync> OneOf<CanBeShared> for T {}
    <Gil as OneOf<_>>::ASKED
};

impl Gil {
    /// Takes the lock; `None` where Python is going down or was never up.
    pub fn take(py: &'static Running) -> Option<Self> {
        if py.is_gone() {
            return None;
        }
        // SAFETY: Python is initialised and not finalising.
        let state = unsafe { (py.c.PyGILState_Ensure)() };
        DEPTH.set(DEPTH.get() + 1);
        Some(Self {
            py,
            state,
            of_this_thread: PhantomData,
        })
    }
}

/// Has Python remember this thread, which does not end: else it makes a state for the thread whenever that takes the
/// lock, and drops it when it is given back. Where Python is not up it does nothing.
pub fn stay_known() {
    thread_local! {
        static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
    }
    let Some(gil) = super::running()
        .filter(|_| !IS_KNOWN.get())
        .and_then(Gil::take)
    else {
        return;
    };
    // SAFETY: the lock is held; one more request that is never taken back keeps the state.
    unsafe { (gil.py.c.PyGILState_Ensure)() };
    IS_KNOWN.set(true);
}

impl Drop for Gil {
    fn drop(&mut self) {
        // SAFETY: taken by this thread and given back once.
        unsafe { (self.py.c.PyGILState_Release)(self.state) };
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            // Gone at the end of a thread: then nothing can be waiting.
            let waiting = DEFERRED.try_with(RefCell::take).unwrap_or_default();
            for action in waiting {
                action();
            }
        }
    }
}

/// Runs `action` now, or, where this thread holds Python's lock through us, after it is given
/// back: a caller's callback must not run under a lock that it knows nothing of.
pub fn without_gil(action: Deferred) {
    if DEPTH.get() == 0 {
        return action();
    }
    let mut action = Some(action);
    let deferred = DEFERRED.try_with(|waiting| waiting.borrow_mut().extend(action.take()));
    if let (Err(_), Some(action)) = (deferred, action) {
        action();
    }
}

/// Runs `body`, which may block, without Python's lock: a host may hold it on this thread all the
/// time, as old versions of reticulate do, and other threads need it to get on.
pub fn blocking<T>(body: impl FnOnce() -> T) -> T {
    let held = super::running().filter(|py| {
        // SAFETY: may be called at any time while Python is up.
        !py.is_gone() && unsafe { (py.c.PyGILState_Check)() } == 1
    });
    // SAFETY: this thread holds the lock.
    let saved = held.map(|py| (py, unsafe { (py.c.PyEval_SaveThread)() }));
    let result = body();
    if let Some((py, state)) = saved {
        // SAFETY: the state that was saved above, on the same thread.
        unsafe { (py.c.PyEval_RestoreThread)(state) };
    }
    result
}
