//! What the CPU plugin in this library finds of Python, for `xlaffi_sitrep()` and `install_pjrt()`.

use extendr_ffi::SEXP;
use pjrt_jaxlib::python::Report;

use crate::entry::routines;
use crate::pointer::wrap;
use crate::run::Run;
use crate::value::{named, IntoSexp};

routines! {
    // Old versions of reticulate run Python on R's thread without asking for its lock: R's thread
    // keeps it from now on, as if reticulate had started Python.
    fn python_keep_lock() {
        pjrt_jaxlib::python::keep_lock();
        Ok(())
    }

    // A run that ends with the places that were looked at, the one that is used and its executable,
    // and why there is none. An interpreter may take its time to answer.
    fn python_look() {
        Ok(wrap(Run::look()?))
    }

    // Starts Python and jaxlib, where they have not been started.
    fn python_start() {
        Ok(pjrt_jaxlib::start()?)
    }
}

/// What [`python_look`] found, as an R list.
pub fn report_to_r(report: &Report) -> SEXP {
    let places: Vec<String> = report.candidates.iter().map(|c| c.describe()).collect();
    let chosen = report.chosen().map(|c| c.describe());
    let executable = report.chosen().and_then(|c| c.executable.as_ref());
    let message = Some(report.message()).filter(|text| !text.is_empty());
    let found = named! {
        places = places,
        chosen = chosen.unwrap_or_default(),
        executable = executable.map(|path| path.display().to_string()),
        message = message,
    };
    found.into_sexp()
}
