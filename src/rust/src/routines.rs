//! All functions that R calls, and how R gets to know them.

use extendr_api::metadata::Metadata;
use extendr_ffi::DllInfo;

use crate::r::entry::{routines, Routine};
use crate::r::failure::Failure;
use crate::r::unwind;
use crate::r::value::Value;
use crate::{callback, custom, host};

/// File by file, in the order of `R/extendr-wrappers.R`.
const ALL: &[&[Routine]] = &[
    host::about::ROUTINES,
    host::again::ROUTINES,
    host::buffer::ROUTINES,
    callback::op::ROUTINES,
    callback::request::ROUTINES,
    host::client::ROUTINES,
    host::compile::ROUTINES,
    custom::code::ROUTINES,
    host::device::ROUTINES,
    host::digest::ROUTINES,
    host::distributed::ROUTINES,
    host::dtype::ROUTINES,
    host::in_flight::ROUTINES,
    custom::op::ROUTINES,
    custom::instances::ROUTINES,
    custom::kernel::ROUTINES,
    custom::signature::ROUTINES,
    host::run::ROUTINES,
    host::signature::ROUTINES,
    host::variables::ROUTINES,
    host::execute::ROUTINES,
    host::executable::ROUTINES,
    host::by_parts::ROUTINES,
    host::plugin::ROUTINES,
    host::point::ROUTINES,
    host::printed::ROUTINES,
    custom::process::ROUTINES,
    host::program::ROUTINES,
    host::python::ROUTINES,
    custom::registry::ROUTINES,
    custom::routine::ROUTINES,
    custom::shared_library::ROUTINES,
    custom::sparse::ROUTINES,
    host::watch::ROUTINES,
];

routines! {
    // The text of `R/extendr-wrappers.R`, under the name that extendr's tools look for.
    fn make_xlaffi_wrappers(use_symbols: bool, package_name: &str) {
        let text = metadata().make_r_wrappers(use_symbols, package_name);
        text.map(Value::from).map_err(|error| Failure::new("INTERNAL", error))
    }
}

/// In extendr's words.
fn metadata() -> Metadata {
    let functions = ALL.iter().copied().flatten();
    let functions = functions.map(|routine| routine.describe(false));
    let own = ROUTINES.iter().map(|routine| routine.describe(true));
    Metadata {
        name: "xlaffi",
        functions: functions.chain(own).collect(),
        impls: Vec::new(),
    }
}

/// R calls this (by way of `entrypoint.c`) when it has loaded the library.
///
/// # Safety
/// R's thread, and what R passes.
#[no_mangle]
pub unsafe extern "C-unwind" fn R_init_xlaffi_extendr(info: *mut DllInfo) {
    // SAFETY: the caller's promise; each function has as many arguments as names.
    unsafe {
        unwind::init();
        extendr_api::register_call_methods(info, metadata());
    }
}
