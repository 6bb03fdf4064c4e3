//! The Python that carries jaxlib: how it is found, loaded and called.
//!
//! Nothing of Python is needed at build time; its C functions are looked up in the library that
//! belongs to the interpreter that was found ([`find`]).

mod candidates;
pub(crate) mod capi;
pub(crate) mod gil;
pub(crate) mod object;
mod probe;
pub(crate) mod start;

pub use candidates::cache_dir;
pub use gil::blocking;
pub use probe::{Candidate, Source};
pub use start::{keep_lock, running, Running};

pub(crate) use probe::try_flags;

use probe::probe;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was looked for, in order, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Everything that was looked at, up to and including the first that can be used.
    pub candidates: Vec<Candidate>,
}

impl Report {
    /// The interpreter to use, where there is one.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|c| c.problem.is_none())
    }

    /// Why nothing was found, in one line; empty where something was.
    pub fn message(&self) -> String {
        if self.chosen().is_some() {
            return String::new();
        }
        let looked: Vec<String> = self.candidates.iter().map(Candidate::describe).collect();
        format!(
            "found no Python with jaxlib for the CPU plugin; looked at {}; \
             call install_pjrt() or set XLAFFI_PYTHON to a python executable that has jaxlib",
            looked.join("; ")
        )
    }
}

/// Looks for a Python that has jaxlib, without loading anything.
///
/// The places, in order: `XLAFFI_PYTHON` (where it is set, nothing else is looked at), an active
/// virtual environment (`VIRTUAL_ENV`), `RETICULATE_PYTHON`, the package's own virtual environment
/// ([`cache_dir`]`/venv`), `python3` on the `PATH`. One subprocess per place, until the first that
/// can be used.
pub fn find() -> Report {
    let mut report = Report::default();
    for (source, path) in candidates::list() {
        let candidate = probe(source, path);
        let good = candidate.problem.is_none();
        report.candidates.push(candidate);
        if good {
            break;
        }
    }
    if let Some(chosen) = report.chosen() {
        sites().clone_from(&chosen.sites);
    }
    report
}

/// The folders of packages of the interpreter that [`find`] chose last.
pub(crate) fn found_sites() -> Vec<PathBuf> {
    sites().clone()
}

fn sites() -> MutexGuard<'static, Vec<PathBuf>> {
    static SITES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    SITES.lock().unwrap_or_else(PoisonError::into_inner)
}
