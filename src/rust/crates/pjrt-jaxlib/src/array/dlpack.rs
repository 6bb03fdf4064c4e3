//! Host memory handed to jaxlib as a DLPack tensor.

use crate::array::shape::{facts, Shape};
use crate::base::error::{Error, Result};
use crate::python::gil::{without_gil, Gil};
use crate::python::object::{capsule, Object};
use crate::python::running;
use crate::run::signal::Signal;
use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_void, CStr};
use std::ptr::{null_mut, NonNull};
use std::sync::Arc;

/// XLA uses memory as it is only where it is aligned like this.
pub(crate) const ALIGNMENT: usize = 64;
const NAME: &CStr = c"dltensor";
const CPU: i32 = 1;
/// Type codes of DLPack: unsigned integers, and the last of its first version.
const UINT: u8 = 1;
const BOOL: u8 = 6;

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// Memory of our own, aligned for XLA where nothing else is said.
pub(crate) struct AlignedMemory {
    pointer: NonNull<u8>,
    layout: Layout,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for AlignedMemory {}
// SAFETY: a shared reference gives its address out, no more.
unsafe impl Sync for AlignedMemory {}

impl AlignedMemory {
    /// At least one byte, so that there always is an address.
    pub fn new(bytes: usize) -> Result<Self> {
        Self::aligned(bytes, ALIGNMENT)
    }

    /// Aligned for elements of all types, which costs less, but not for XLA.
    pub fn of_elements(bytes: usize) -> Result<Self> {
        Self::aligned(bytes, 16)
    }

    fn aligned(bytes: usize, alignment: usize) -> Result<Self> {
        Layout::from_size_align(bytes.max(1), alignment)
            .ok()
            .and_then(|layout| {
                // SAFETY: the size is not zero.
                let pointer = NonNull::new(unsafe { alloc(layout) })?;
                Some(Self { pointer, layout })
            })
            .ok_or_else(|| Error::exhausted(format!("cannot allocate {bytes} bytes")))
    }

    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl Drop for AlignedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) };
    }
}

/// Who owns the memory behind a tensor.
pub(crate) enum Owner {
    Ours(AlignedMemory),
    /// The caller, who waits for this signal before touching it.
    Caller(*mut c_void, Arc<Signal>),
}

/// A tensor together with all that it points to; freed by its deleter.
#[repr(C)]
struct Managed {
    tensor: DlManagedTensor,
    dims: Box<[i64]>,
    owner: Owner,
}

/// A capsule with the elements of an array of `shape`, in the order in which they lie in memory.
pub(crate) fn export(gil: &Gil, shape: &Shape, owner: Owner) -> Result<Object> {
    let facts = facts(shape.ty)?;
    let data = match &owner {
        Owner::Ours(memory) => memory.as_ptr().cast(),
        Owner::Caller(data, _) => *data,
    };
    let mut managed = Box::new(Managed {
        tensor: DlManagedTensor {
            tensor: DlTensor {
                data,
                device_type: CPU,
                device_id: 0,
                ndim: shape.dims.len() as i32,
                // Codes that older ones lack travel as unsigned integers: XLA looks at the size
                // only.
                code: if facts.dlpack > BOOL {
                    UINT
                } else {
                    facts.dlpack
                },
                // What XLA calls pred is one byte.
                bits: facts.bits as u8,
                lanes: 1,
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
            context: null_mut(),
            deleter: Some(delete),
        },
        // XLA takes only row-major tensors as they are; to it this is one, and what its dimensions
        // mean is known to the buffer.
        dims: shape.physical_dims(),
        owner,
    });
    managed.tensor.tensor.shape = managed.dims.as_mut_ptr();
    let raw = Box::into_raw(managed);
    // SAFETY: the tensor lives until its deleter is called, by whoever takes it out of the
    // capsule, else by the capsule's destructor.
    unsafe { capsule(gil, raw.cast(), NAME, Some(discard)) }.inspect_err(|_| {
        // SAFETY: no capsule was made, so nobody else has it.
        unsafe { delete(raw.cast()) }
    })
}

/// Frees a tensor. Called on any thread, with or without Python's lock.
unsafe extern "C" fn delete(tensor: *mut DlManagedTensor) {
    // SAFETY: every tensor that has this deleter is the first field of a boxed `Managed`, and it
    // is deleted once.
    let managed = unsafe { Box::from_raw(tensor.cast::<Managed>()) };
    match managed.owner {
        Owner::Ours(memory) => drop(memory),
        Owner::Caller(_, signal) => without_gil(Box::new(move || {
            // It is set here only.
            let _ = signal.set(None);
        })),
    }
}

/// Frees the tensor of a capsule that nobody took it out of.
unsafe extern "C" fn discard(capsule: crate::python::capi::Obj) {
    let Some(py) = running() else { return };
    // SAFETY: Python calls this with its lock held; a consumed capsule has another name.
    unsafe {
        if (py.c.PyCapsule_IsValid)(capsule, NAME.as_ptr()) != 0 {
            delete((py.c.PyCapsule_GetPointer)(capsule, NAME.as_ptr()).cast());
        }
    }
}
