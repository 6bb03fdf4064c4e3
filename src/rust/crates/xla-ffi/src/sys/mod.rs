//! XLA's FFI C API, declared by hand.
//!
//! The names are the C names, so that XLA's own header documents them; the layout is that of
//! FFI API 0.3 and is compared, field by field, with the header of the jaxlib wheel in
//! `tests/header.rs`. XLA only ever appends fields to these structs and tells through `struct_size`
//! how much of one it filled: look at it before you read a field that an older XLA may lack.

#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs
)]

mod api;

pub use api::*;

use core::ffi::{c_char, c_int, c_void};

/// A C enum: XLA's are all unsigned int sized, and a value that we do not know must not be
/// undefined behaviour.
pub type XLA_FFI_Enum = c_int;

pub type XLA_FFI_Extension_Type = XLA_FFI_Enum;
pub const XLA_FFI_Extension_Metadata: XLA_FFI_Extension_Type = 1;

/// Head of every extension: a singly linked list hangs off each struct.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Extension_Base {
    pub struct_size: usize,
    pub type_: XLA_FFI_Extension_Type,
    pub next: *mut XLA_FFI_Extension_Base,
}

pub const XLA_FFI_API_MAJOR: c_int = 0;
/// The minor version whose structs are declared here, not the one that handlers report.
pub const XLA_FFI_API_MINOR: c_int = 3;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Api_Version {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub major_version: c_int,
    pub minor_version: c_int,
}

pub type XLA_FFI_Error_Code = XLA_FFI_Enum;
pub const XLA_FFI_Error_Code_OK: XLA_FFI_Error_Code = 0;
pub const XLA_FFI_Error_Code_CANCELLED: XLA_FFI_Error_Code = 1;
pub const XLA_FFI_Error_Code_UNKNOWN: XLA_FFI_Error_Code = 2;
pub const XLA_FFI_Error_Code_INVALID_ARGUMENT: XLA_FFI_Error_Code = 3;
pub const XLA_FFI_Error_Code_DEADLINE_EXCEEDED: XLA_FFI_Error_Code = 4;
pub const XLA_FFI_Error_Code_NOT_FOUND: XLA_FFI_Error_Code = 5;
pub const XLA_FFI_Error_Code_ALREADY_EXISTS: XLA_FFI_Error_Code = 6;
pub const XLA_FFI_Error_Code_PERMISSION_DENIED: XLA_FFI_Error_Code = 7;
pub const XLA_FFI_Error_Code_RESOURCE_EXHAUSTED: XLA_FFI_Error_Code = 8;
pub const XLA_FFI_Error_Code_FAILED_PRECONDITION: XLA_FFI_Error_Code = 9;
pub const XLA_FFI_Error_Code_ABORTED: XLA_FFI_Error_Code = 10;
pub const XLA_FFI_Error_Code_OUT_OF_RANGE: XLA_FFI_Error_Code = 11;
pub const XLA_FFI_Error_Code_UNIMPLEMENTED: XLA_FFI_Error_Code = 12;
pub const XLA_FFI_Error_Code_INTERNAL: XLA_FFI_Error_Code = 13;
pub const XLA_FFI_Error_Code_UNAVAILABLE: XLA_FFI_Error_Code = 14;
pub const XLA_FFI_Error_Code_DATA_LOSS: XLA_FFI_Error_Code = 15;
pub const XLA_FFI_Error_Code_UNAUTHENTICATED: XLA_FFI_Error_Code = 16;

/// Element type of a buffer, scalar or array; the values are those of `crate::DataType`.
pub type XLA_FFI_DataType = XLA_FFI_Enum;

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
            _pinned_to_xla: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// An error owned by whoever received it last; made by `XLA_FFI_Error_Create`.
    XLA_FFI_Error,
    /// Per-call state of XLA: stream, thread pool, allocator.
    XLA_FFI_ExecutionContext,
    /// Tells XLA when an asynchronous handler has finished.
    XLA_FFI_Future,
    /// XLA's private table.
    XLA_FFI_InternalApi,
}

/// Bytes that need not end in NUL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_ByteSpan {
    pub ptr: *const c_char,
    pub len: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Scalar {
    pub dtype: XLA_FFI_DataType,
    pub value: *mut c_void,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Array {
    pub dtype: XLA_FFI_DataType,
    pub size: usize,
    pub data: *mut c_void,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XLA_FFI_TypeId {
    pub type_id: i64,
}

/// "No such type": XLA assigns an id when a type is registered with it.
pub const XLA_FFI_UNKNOWN_TYPE_ID: XLA_FFI_TypeId = XLA_FFI_TypeId { type_id: 0 };

/// What XLA must know of a type whose values it keeps for a handler.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_TypeInfo {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub deleter: Option<unsafe extern "C" fn(object: *mut c_void)>,
}
