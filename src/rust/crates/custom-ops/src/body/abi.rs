//! What a compiled body is given: the structs of `inst/include/xlaffi.h`.

use core::ffi::{c_char, c_void};
use core::ptr;

/// An attribute's value: scalars and strings are pointed to as well.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The value, the first element, or the first byte of a string (which has no NUL).
    pub data: *const c_void,
    /// Elements of an array, bytes of a string, 1 for a scalar.
    pub length: usize,
}

/// One call of a body: of one batch element.
#[repr(C)]
#[derive(Debug)]
pub struct Call {
    /// The size of this struct, so that it can grow.
    pub size: usize,
    /// The arrays, in the order of the signature: operands, results, scratch. An operand that is
    /// worked on in place has its result's address. NULL: an optional operand that was not given.
    /// Of an operand that may come several times: an array of pointers.
    pub buffers: *const *mut c_void,
    /// The named dimensions, in order of first appearance.
    pub dims: *const i64,
    /// The attributes, in the order of the signature.
    pub attributes: *const Attribute,
    /// What the op's `init` made, or NULL.
    pub state: *mut c_void,
    /// Which element of the batch this is, from 0.
    pub batch: i64,
    /// Room for the text of an error, which ends in NUL.
    pub message: *mut c_char,
    /// Bytes there, the NUL included.
    pub message_size: usize,
}

impl Call {
    /// Of a function without arrays, dimensions and attributes, with that much memory for its text.
    pub(crate) fn without_arrays((message, message_size): (*mut c_char, usize)) -> Self {
        Call {
            size: size_of::<Call>(),
            buffers: ptr::null(),
            dims: ptr::null(),
            attributes: ptr::null(),
            state: ptr::null_mut(),
            batch: 0,
            message,
            message_size,
        }
    }
}

/// A body. 0: fine; else XLA's number of an error's code (see [`xla_ffi::Code`]), with a text in
/// `message`.
pub type Body = unsafe extern "C" fn(call: *const Call) -> i32;

/// Makes the state of an op from its attributes: there are no arrays, and dimensions are -1 unless
/// they are lengths of attributes. Returns as a [`Body`].
pub type Init = unsafe extern "C" fn(call: *const Call, state: *mut *mut c_void) -> i32;

/// Frees what an [`Init`] made.
pub type Cleanup = unsafe extern "C" fn(state: *mut c_void);
