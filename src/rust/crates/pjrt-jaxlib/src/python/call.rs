//! Making Python objects, and calling them.

use super::capi::{PyObject, ARGUMENTS_OFFSET};
use super::gil::Gil;
use super::object::Object;
use crate::base::error::Result;
use std::ffi::CStr;
use std::ptr::null_mut;

impl Gil {
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
        self.method(name, [null_mut(), object.as_ptr()])
    }

    /// Calls `object.name(argument)`.
    pub fn method1(&self, object: &Object, name: &Object, argument: &Object) -> Result<Object> {
        self.method(name, [null_mut(), object.as_ptr(), argument.as_ptr()])
    }

    /// Calls the method of that name of the object in slot 1 with what follows it.
    fn method<const N: usize>(&self, name: &Object, slots: [*mut PyObject; N]) -> Result<Object> {
        // SAFETY: as in `call`; the object itself is the first argument.
        unsafe {
            self.owned((self.py.c.PyObject_VectorcallMethod)(
                name.as_ptr(),
                slots.as_ptr().add(1),
                (N - 1) | ARGUMENTS_OFFSET,
                null_mut(),
            ))
        }
    }
}
