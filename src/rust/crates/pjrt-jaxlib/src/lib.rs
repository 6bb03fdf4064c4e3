//! A PJRT C-API CPU plugin on top of an installed jaxlib wheel.
//!
//! [`GetPjrtApi`] is what any PJRT client looks for in a plugin. Behind it, jaxlib's XLA is driven
//! through CPython, which is embedded at run time: nothing of Python is needed to build or to load
//! this crate, and [`python::find`] says what was found.
//!
//! The way of a call: `table` (the functions) → `entry` (sizes, panics, errors) → one file per kind
//! of object → `compat` (jaxlib, whose version differences are all in `compat.py`) → `python`.

mod array;
mod attend;
mod buffer;
mod calls;
mod client;
mod client_options;
mod compat;
mod compile;
mod device;
mod dlpack;
mod download;
mod entry;
mod environment;
mod error;
mod event;
mod executable;
mod execute;
mod ffi;
mod frame;
mod guard;
mod launch;
pub mod mesh;
mod plugin;
mod prepare;
mod proto;
pub mod python;
mod refine;
mod run;
mod shape;
mod small;
mod soon;
mod stages;
mod stand_in;
mod strided;
mod sync;
mod table;
mod upload;
mod usage;

pub use attend::{attend_by, compile_served, Attendant, Others, Served};

pub use error::{Error, Result};
pub use prepare::depends_on_handlers;
pub use refine::refine;
pub use soon::look_for;

use std::path::PathBuf;

/// The plugin's function table, valid for as long as the process.
#[no_mangle]
#[allow(non_snake_case, reason = "the name that PJRT clients look for")]
pub extern "C" fn GetPjrtApi() -> *const pjrt_api::PJRT_Api {
    table::table()
}

/// Starts Python and jaxlib, which the first client or handler does otherwise.
///
/// # Errors
/// What is missing, or cannot be started.
pub fn start() -> Result<()> {
    compat::jaxlib().map(drop)
}

/// The folders of Python's packages that jaxlib lies in: of the jaxlib in use, else of the one that was
/// found last.
pub fn packages() -> Vec<PathBuf> {
    match compat::started() {
        Some(jaxlib) => vec![PathBuf::from(&jaxlib.folder)],
        None => python::found_sites(),
    }
}

/// The version of the jaxlib that is in use, once a client or a handler has started it.
pub fn jaxlib_version() -> Option<&'static str> {
    compat::started().map(|jaxlib| jaxlib.version.as_str())
}
