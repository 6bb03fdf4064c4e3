//! What a library's symbols are made of.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// Fortran's default INTEGER, and its LOGICAL.
pub type Int = c_int;

/// Of a symbol.
pub(crate) type Address = NonNull<c_void>;
