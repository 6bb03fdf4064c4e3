//! The PJRT C API as `repr(C)` Rust declarations, shared by the host and the plugin.
//!
//! Names are those of the C header, so that its documentation applies as it stands. The function
//! table is declared up to minor version [`API_MINOR`]; functions that neither of our crates uses
//! stand in it as [`GenericFn`], to keep order and count. Tables and argument structs of other
//! versions are prefixes or extensions of these, told apart by their `struct_size`.
//!
//! [`LAYOUTS`] describes every struct declared here; a test compares it with a real header.
#![allow(
    non_camel_case_types,
    non_snake_case,
    missing_docs,
    reason = "names and fields are those of the C header"
)]

mod api;
mod buffer;
mod client;
mod device;
mod event;
mod executable;
mod ffi;
mod layout;
mod transfer;
mod types;

pub use api::*;
pub use buffer::*;
pub use client::*;
pub use device::*;
pub use event::*;
pub use executable::*;
pub use ffi::*;
pub use layout::{CStruct, Field, Layout};
pub use transfer::*;
pub use types::*;

/// Major version of the API declared here; another major version is incompatible.
pub const API_MAJOR: i32 = 0;
/// Minor version of the API declared here.
pub const API_MINOR: i32 = 90;

/// Every struct declared in this crate, for comparison with a C header.
pub const LAYOUTS: &[&[Layout]] = &[
    types::LAYOUTS,
    event::LAYOUTS,
    client::LAYOUTS,
    device::LAYOUTS,
    executable::LAYOUTS,
    buffer::LAYOUTS,
    transfer::LAYOUTS,
    ffi::LAYOUTS,
    api::LAYOUTS,
];
