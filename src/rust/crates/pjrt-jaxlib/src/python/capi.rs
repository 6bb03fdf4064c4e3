//! CPython's C API as a table of functions looked up at run time.
//!
//! Only functions that are in every CPython since 3.9; what came or went later is optional.

#![allow(non_snake_case, reason = "CPython's names")]

use libloading::Library;
use std::ffi::{c_char, c_int, c_long, c_longlong, c_void};

/// A Python object; only ever used behind a pointer.
#[repr(C)]
pub struct PyObject {
    _private: [u8; 0],
}

/// A pointer to a Python object.
pub type Obj = *mut PyObject;
/// A saved thread state.
pub type ThreadState = *mut c_void;
/// What a capsule calls when it is freed.
pub type CapsuleDestructor = Option<unsafe extern "C" fn(Obj)>;

/// In `nargsf` of a vectorcall: the slot before the first argument may be overwritten.
pub const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);
/// Start symbol of a whole module.
pub const FILE_INPUT: c_int = 257;

macro_rules! capi {
    (
        functions { $($name:ident($($arg:ty),*) $(-> $ret:ty)?;)* }
        optional { $($oname:ident($($oarg:ty),*) $(-> $oret:ty)?;)* }
    ) => {
        /// The functions, all of them looked up in one library.
        pub struct Capi {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub $oname: Option<unsafe extern "C" fn($($oarg),*) $(-> $oret)?>,)*
            /// `None`, borrowed.
            pub none: Obj,
        }

        impl Capi {
            /// Looks every function up; the error names the one that is missing.
            pub fn load(library: &Library) -> Result<Self, String> {
                $(
                    // SAFETY: the declared type is that of CPython's documentation.
                    let $name = *unsafe {
                        library.get(concat!(stringify!($name), "\0").as_bytes())
                    }
                    .map_err(|_| concat!("lacks the function ", stringify!($name)).to_owned())?;
                )*
                $(
                    // SAFETY: as above.
                    let $oname = unsafe {
                        library.get(concat!(stringify!($oname), "\0").as_bytes())
                    }
                    .ok()
                    .map(|symbol| *symbol);
                )*
                // SAFETY: the symbol's address is that of the object, and only that is taken.
                let none = unsafe { library.get::<Obj>(b"_Py_NoneStruct\0") }
                    .map(|symbol| *symbol)
                    .map_err(|_| "lacks the object None".to_owned())?;
                Ok(Self { $($name,)* $($oname,)* none })
            }
        }
    };
}

// SAFETY: function pointers, and the address of an object that is touched with Python's lock held.
unsafe impl Send for Capi {}
// SAFETY: as above.
unsafe impl Sync for Capi {}

capi! {
    functions {
        Py_IsInitialized() -> c_int;
        Py_InitializeEx(c_int);
        PyEval_SaveThread() -> ThreadState;
        PyEval_RestoreThread(ThreadState);
        PyGILState_Check() -> c_int;
        PyGILState_Ensure() -> c_int;
        PyGILState_Release(c_int);
        Py_IncRef(Obj);
        Py_DecRef(Obj);
        PyErr_Occurred() -> Obj;
        PyErr_Fetch(*mut Obj, *mut Obj, *mut Obj);
        PyErr_NormalizeException(*mut Obj, *mut Obj, *mut Obj);
        PyImport_GetModuleDict() -> Obj;
        PyImport_ExecCodeModule(*const c_char, Obj) -> Obj;
        Py_CompileString(*const c_char, *const c_char, c_int) -> Obj;
        PyObject_GetAttrString(Obj, *const c_char) -> Obj;
        PyObject_Vectorcall(Obj, *const Obj, usize, Obj) -> Obj;
        PyObject_VectorcallMethod(Obj, *const Obj, usize, Obj) -> Obj;
        PyObject_IsTrue(Obj) -> c_int;
        PyObject_Str(Obj) -> Obj;
        PyUnicode_FromStringAndSize(*const c_char, isize) -> Obj;
        PyUnicode_InternFromString(*const c_char) -> Obj;
        PyUnicode_AsUTF8AndSize(Obj, *mut isize) -> *const c_char;
        PyBytes_FromStringAndSize(*const c_char, isize) -> Obj;
        PyBytes_AsStringAndSize(Obj, *mut *mut c_char, *mut isize) -> c_int;
        PyLong_FromLongLong(c_longlong) -> Obj;
        PyLong_AsLongLong(Obj) -> c_longlong;
        PyLong_AsVoidPtr(Obj) -> *mut c_void;
        PyBool_FromLong(c_long) -> Obj;
        PyList_New(isize) -> Obj;
        PyList_SetItem(Obj, isize, Obj) -> c_int;
        PySequence_Size(Obj) -> isize;
        PySequence_GetItem(Obj, isize) -> Obj;
        PyDict_GetItemWithError(Obj, Obj) -> Obj;
        PyDict_SetItem(Obj, Obj, Obj) -> c_int;
        PyDict_DelItem(Obj, Obj) -> c_int;
        PyCapsule_New(*mut c_void, *const c_char, CapsuleDestructor) -> Obj;
        PyCapsule_GetPointer(Obj, *const c_char) -> *mut c_void;
        PyCapsule_IsValid(Obj, *const c_char) -> c_int;
    }
    optional {
        Py_SetProgramName(*const WChar);
        Py_IsFinalizing() -> c_int;
        _Py_IsFinalizing() -> c_int;
    }
}

/// C's `wchar_t`.
#[cfg(windows)]
pub type WChar = u16;
/// C's `wchar_t`.
#[cfg(not(windows))]
pub type WChar = i32;

/// Text as C's wide characters, ended by zero.
pub fn wide(text: &str) -> Vec<WChar> {
    #[cfg(windows)]
    let units = text.encode_utf16();
    #[cfg(not(windows))]
    let units = text.chars().map(|c| c as WChar);
    units.chain(std::iter::once(0)).collect()
}
