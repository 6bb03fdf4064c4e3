//! Python's lock, and the calls that need it.

use super::capi::{Obj, ARGUMENTS_OFFSET};
use super::object::Object;
use super::start::Running;
use crate::error::{Error, Result};
use pjrt_api::PJRT_Error_Code;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, CStr};
use std::marker::PhantomData;
use std::ptr::null_mut;

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

    /// An error where the last call failed, taken from Python, which then has none set.
    pub fn error(&self) -> Error {
        let c = &self.py.c;
        let (mut kind, mut value, mut trace) = (null_mut(), null_mut(), null_mut());
        // SAFETY: the lock is held; the three results are owned and may be NULL.
        let (kind, value, _trace) = unsafe {
            (c.PyErr_Fetch)(&mut kind, &mut value, &mut trace);
            if !kind.is_null() {
                (c.PyErr_NormalizeException)(&mut kind, &mut value, &mut trace);
            }
            (
                Object::own(self.py, kind),
                Object::own(self.py, value),
                Object::own(self.py, trace),
            )
        };
        let name = kind
            .and_then(|k| k.attr(self, c"__name__").ok()?.text(self).ok())
            .unwrap_or_default();
        // SAFETY: the lock is held; a new reference or NULL comes back.
        let text = value
            .and_then(|v| unsafe { Object::own(self.py, (c.PyObject_Str)(v.as_ptr())) })
            .and_then(|s| s.text(self).ok());
        // A failure while reading the failure is of no interest.
        // SAFETY: the lock is held.
        unsafe {
            if !(c.PyErr_Occurred)().is_null() {
                let (mut a, mut b, mut t) = (null_mut(), null_mut(), null_mut());
                (c.PyErr_Fetch)(&mut a, &mut b, &mut t);
                drop((
                    Object::own(self.py, a),
                    Object::own(self.py, b),
                    Object::own(self.py, t),
                ));
            }
        }
        let text = text.unwrap_or_else(|| format!("a {name} without a message"));
        match name.as_str() {
            "TypeError" | "ValueError" | "KeyError" => {
                Error::from_xla(&text, PJRT_Error_Code::INVALID_ARGUMENT)
            }
            "MemoryError" => Error::from_xla(&text, PJRT_Error_Code::RESOURCE_EXHAUSTED),
            "ImportError" | "ModuleNotFoundError" | "AttributeError" => {
                Error::precondition(format!("{name}: {text}"))
            }
            _ => Error::from_xla(&text, PJRT_Error_Code::UNKNOWN),
        }
    }

    /// A new reference that a call returned, or the error that it left.
    ///
    /// # Safety
    /// `object` is NULL or a reference that the caller owns.
    pub unsafe fn owned(&self, object: Obj) -> Result<Object> {
        // SAFETY: by this function's contract.
        unsafe { Object::own(self.py, object) }.ok_or_else(|| self.error())
    }

    /// A Python string.
    pub fn string(&self, text: &str) -> Result<Object> {
        // SAFETY: pointer and length are those of `text`.
        unsafe {
            self.owned((self.py.c.PyUnicode_FromStringAndSize)(
                text.as_ptr().cast(),
                text.len() as isize,
            ))
        }
    }

    /// A Python string for use as a name: one object per text.
    pub fn name(&self, text: &CStr) -> Result<Object> {
        // SAFETY: `text` ends with zero.
        unsafe { self.owned((self.py.c.PyUnicode_InternFromString)(text.as_ptr())) }
    }

    /// Python bytes.
    pub fn bytes(&self, bytes: &[u8]) -> Result<Object> {
        // SAFETY: pointer and length are those of `bytes`.
        unsafe {
            self.owned((self.py.c.PyBytes_FromStringAndSize)(
                bytes.as_ptr().cast(),
                bytes.len() as isize,
            ))
        }
    }

    /// A Python integer.
    pub fn int(&self, value: i64) -> Result<Object> {
        // SAFETY: the lock is held.
        unsafe { self.owned((self.py.c.PyLong_FromLongLong)(value)) }
    }

    /// `True` or `False`.
    pub fn bool(&self, value: bool) -> Result<Object> {
        // SAFETY: the lock is held.
        unsafe { self.owned((self.py.c.PyBool_FromLong)(value.into())) }
    }

    /// `None`.
    pub fn none(&self) -> Result<Object> {
        // SAFETY: the lock is held; the reference is borrowed, so one is added.
        unsafe {
            (self.py.c.Py_IncRef)(self.py.c.none);
            self.owned(self.py.c.none)
        }
    }

    /// A Python list.
    pub fn list<'a>(&self, items: impl ExactSizeIterator<Item = &'a Object>) -> Result<Object> {
        let c = &self.py.c;
        // SAFETY: the lock is held.
        let list = unsafe { self.owned((c.PyList_New)(items.len() as isize))? };
        for (i, item) in items.enumerate() {
            self.set_item(&list, i, item)?;
        }
        Ok(list)
    }

    /// `list[index] = item`.
    pub fn set_item(&self, list: &Object, index: usize, item: &Object) -> Result<()> {
        let c = &self.py.c;
        // SAFETY: the lock is held; `PyList_SetItem` takes over the reference that is added here, also where it fails.
        let failed = unsafe {
            (c.Py_IncRef)(item.as_ptr());
            (c.PyList_SetItem)(list.as_ptr(), index as isize, item.as_ptr()) != 0
        };
        match failed {
            true => Err(self.error()),
            false => Ok(()),
        }
    }

    /// Calls `callable` with positional arguments.
    pub fn call<const N: usize>(&self, callable: &Object, args: [&Object; N]) -> Result<Object> {
        const SLOTS: usize = 8;
        const { assert!(N < SLOTS) };
        let mut slots = [null_mut(); SLOTS];
        for (slot, arg) in slots[1..].iter_mut().zip(args) {
            *slot = arg.as_ptr();
        }
        // SAFETY: the lock is held; the `N` arguments live through the call; slot 0 is spare.
        unsafe {
            self.owned((self.py.c.PyObject_Vectorcall)(
                callable.as_ptr(),
                slots.as_ptr().add(1),
                N | ARGUMENTS_OFFSET,
                null_mut(),
            ))
        }
    }

    /// Calls `object.name()`.
    pub fn method0(&self, object: &Object, name: &Object) -> Result<Object> {
        let slots = [null_mut(), object.as_ptr()];
        // SAFETY: as in `call`; the object itself is the first argument.
        unsafe {
            self.owned((self.py.c.PyObject_VectorcallMethod)(
                name.as_ptr(),
                slots.as_ptr().add(1),
                1 | ARGUMENTS_OFFSET,
                null_mut(),
            ))
        }
    }

    /// Calls `object.name(argument)`.
    pub fn method1(&self, object: &Object, name: &Object, argument: &Object) -> Result<Object> {
        let slots = [null_mut(), object.as_ptr(), argument.as_ptr()];
        // SAFETY: as in `method0`.
        unsafe {
            self.owned((self.py.c.PyObject_VectorcallMethod)(
                name.as_ptr(),
                slots.as_ptr().add(1),
                2 | ARGUMENTS_OFFSET,
                null_mut(),
            ))
        }
    }

    /// Whether a call that returned a plain number left an error.
    pub(super) fn check(&self) -> Result<()> {
        // SAFETY: the lock is held.
        if unsafe { (self.py.c.PyErr_Occurred)() }.is_null() {
            Ok(())
        } else {
            Err(self.error())
        }
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
