//! What the CPU plugin in this library found of Python.

use extendr_ffi::SEXP;
use pjrt_jaxlib::python::Report;

use crate::r::value::{named, IntoSexp};

/// A report as an R list, not protected.
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
