//! Python objects owned from Rust.

use super::capi::Obj;
use super::gil::Gil;
use super::start::Running;
use crate::base::error::{Error, Result};
use pjrt_api::PJRT_Error_Code;
use std::ffi::{c_void, CStr};
use std::ptr::{null_mut, NonNull};

/// An owned reference to a Python object; may be dropped on any thread, at any time.
pub struct Object {
    pointer: NonNull<super::capi::PyObject>,
    py: &'static Running,
}

// SAFETY: the object is only touched with Python's lock held (`Gil`), on whatever thread.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    /// Takes over a reference; `None` for NULL.
    ///
    /// # Safety
    /// `pointer` is NULL or a reference that the caller owns.
    pub unsafe fn own(py: &'static Running, pointer: Obj) -> Option<Self> {
        NonNull::new(pointer).map(|pointer| Self { pointer, py })
    }

    /// The object, borrowed.
    pub fn as_ptr(&self) -> Obj {
        self.pointer.as_ptr()
    }

    /// One more reference to the same object.
    pub fn share(&self, gil: &Gil) -> Self {
        // SAFETY: the lock is held and the object is alive.
        unsafe { (gil.py.c.Py_IncRef)(self.as_ptr()) };
        Self {
            pointer: self.pointer,
            py: self.py,
        }
    }

    /// Gives the reference up where the lock is held anyway.
    pub fn release(self, gil: &Gil) {
        // SAFETY: the lock is held; the reference is given up here and, as it is forgotten, nowhere
        // else.
        unsafe { (gil.py.c.Py_DecRef)(self.as_ptr()) };
        std::mem::forget(self);
    }

    /// `object.name`.
    pub fn attr(&self, gil: &Gil, name: &CStr) -> Result<Object> {
        // SAFETY: the lock is held; `name` ends with zero.
        unsafe {
            gil.owned((gil.py.c.PyObject_GetAttrString)(
                self.as_ptr(),
                name.as_ptr(),
            ))
        }
    }

    /// A Python string's text.
    pub fn text(&self, gil: &Gil) -> Result<String> {
        let mut size = 0;
        // SAFETY: the lock is held; the text is copied before the object can go.
        unsafe {
            let text = (gil.py.c.PyUnicode_AsUTF8AndSize)(self.as_ptr(), &mut size);
            if text.is_null() {
                return Err(gil.error());
            }
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), size as usize);
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// The contents of Python bytes.
    pub fn to_bytes(&self, gil: &Gil) -> Result<Vec<u8>> {
        let (mut data, mut size) = (null_mut(), 0);
        // SAFETY: as in `text`.
        unsafe {
            if (gil.py.c.PyBytes_AsStringAndSize)(self.as_ptr(), &mut data, &mut size) != 0 {
                return Err(gil.error());
            }
            Ok(std::slice::from_raw_parts(data.cast::<u8>(), size as usize).to_vec())
        }
    }

    /// A Python integer's value.
    pub fn to_int(&self, gil: &Gil) -> Result<i64> {
        // SAFETY: the lock is held.
        let value = unsafe { (gil.py.c.PyLong_AsLongLong)(self.as_ptr()) };
        if value == -1 {
            gil.check()?;
        }
        Ok(value)
    }

    /// An address that a Python integer holds.
    pub fn to_address(&self, gil: &Gil) -> Result<*mut c_void> {
        // SAFETY: the lock is held.
        let value = unsafe { (gil.py.c.PyLong_AsVoidPtr)(self.as_ptr()) };
        if value.is_null() {
            gil.check()?;
        }
        Ok(value)
    }

    /// The address in a capsule without a name; NULL for any other object.
    pub fn unnamed_capsule(&self, gil: &Gil) -> *mut c_void {
        // SAFETY: the lock is held.
        let pointer = unsafe { (gil.py.c.PyCapsule_GetPointer)(self.as_ptr(), std::ptr::null()) };
        if pointer.is_null() {
            // Of what is something else.
            drop(gil.error());
        }
        pointer
    }

    /// Python's notion of truth.
    pub fn is_true(&self, gil: &Gil) -> Result<bool> {
        // SAFETY: the lock is held.
        match unsafe { (gil.py.c.PyObject_IsTrue)(self.as_ptr()) } {
            -1 => Err(gil.error()),
            value => Ok(value != 0),
        }
    }

    /// The items of a Python sequence.
    pub fn items(&self, gil: &Gil) -> Result<Vec<Object>> {
        // SAFETY: the lock is held.
        let size = unsafe { (gil.py.c.PySequence_Size)(self.as_ptr()) };
        if size < 0 {
            return Err(gil.error());
        }
        // SAFETY: the lock is held; a new reference comes back.
        (0..size)
            .map(|i| unsafe { gil.owned((gil.py.c.PySequence_GetItem)(self.as_ptr(), i)) })
            .collect()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // Where Python is gone, so is the object.
        if let Some(gil) = Gil::take(self.py) {
            // SAFETY: the lock is held; this reference is given up once.
            unsafe { (gil.py.c.Py_DecRef)(self.as_ptr()) };
        }
    }
}

impl Gil {
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

/// A capsule around an address.
///
/// # Safety
/// `name` lives as long as the process; `destructor` may be called on any thread.
pub unsafe fn capsule(
    gil: &Gil,
    pointer: *mut c_void,
    name: &'static CStr,
    destructor: super::capi::CapsuleDestructor,
) -> Result<Object> {
    // SAFETY: by this function's contract; the lock is held.
    unsafe { gil.owned((gil.py.c.PyCapsule_New)(pointer, name.as_ptr(), destructor)) }
}
