//! A PJRT C-API CPU plugin on top of an installed jaxlib wheel.
//!
//! [`GetPjrtApi`] is what any PJRT client looks for in a plugin. Behind it, jaxlib's XLA is driven
//! through CPython, which is embedded at run time: nothing of Python is needed to build or to load
//! this crate, and [`python::find`] says what was found.
//!
//! The way of a call: `api` (the functions) → `base::entry` (sizes, panics, errors) → one file per kind
//! of object → `python::compat` (jaxlib, whose version differences are all in `compat.py`) → `python`.

mod api;
mod array;
mod base;
mod client;
mod cluster;
mod handlers;
mod program;
pub mod python;
mod run;

pub use base::attend::{attend_by, compile_served, Attendant, Others, Served, Work};
pub use base::environment::quietly;
pub use base::error::{Error, Result};
pub use base::expendable::expendable;
pub use base::signals::{leave_signals, SignalsLater};
pub use base::soon::look_for;
pub use cluster::launch::THREAD as LAUNCHING_THREAD;
pub use cluster::mesh;
pub use handlers::prepare::depends_on_handlers;
pub use program::refine::refine;

use python::compat;
use std::path::PathBuf;

/// The plugin's function table, valid for as long as the process.
#[no_mangle]
#[allow(non_snake_case, reason = "the name that PJRT clients look for")]
pub extern "C" fn GetPjrtApi() -> *const pjrt_api::PJRT_Api {
    api::table::table()
}

/// Starts Python and jaxlib, which the first client or handler does otherwise.
///
/// # Errors
/// What is missing, or cannot be started.
pub fn start() -> Result<()> {
    handlers::jaxlib::jaxlib().map(drop)
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
