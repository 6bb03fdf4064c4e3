//! The Python that carries jaxlib: how it is found, loaded and called.
//!
//! Nothing of Python is needed at build time; its C functions are looked up in the library that
//! belongs to the interpreter that was found ([`find`]).

mod call;
mod candidates;
pub(crate) mod capi;
pub(crate) mod compat;
pub(crate) mod flags;
pub(crate) mod gil;
pub(crate) mod object;
mod probe;
mod stand_in;
pub(crate) mod start;
mod subprocess;

pub use candidates::cache_dir;
pub use gil::{blocking, stay_known};
pub use probe::{Candidate, Source};
pub use start::{keep_lock, running, Running};

pub(crate) use probe::{old_jaxlib, try_flags};

use probe::probe;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    let places = candidates::list();
    let mut report = Report::default();
    for (source, path) in places.iter().cloned() {
        let candidate = probe(source, path);
        let good = candidate.problem.is_none();
        report.candidates.push(candidate);
        if good {
            break;
        }
    }
    match report.chosen() {
        Some(_) => {
            let (report, when) = (report.clone(), Some(Instant::now()));
            *last() = Some(Found {
                places,
                report,
                when,
            });
        }
        // What was there may be gone.
        None => last().iter_mut().for_each(|last| last.when = None),
    }
    report
}

/// What [`find`] chose last, and of which places.
struct Found {
    places: Vec<(Source, Option<PathBuf>)>,
    report: Report,
    /// Not if it found nothing after that.
    when: Option<Instant>,
}

fn last() -> MutexGuard<'static, Option<Found>> {
    static LAST: Mutex<Option<Found>> = Mutex::new(None);
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folders of packages of the interpreter that [`find`] chose last.
pub(crate) fn found_sites() -> Vec<PathBuf> {
    let last = last();
    let chosen = last.as_ref().and_then(|last| last.report.chosen());
    chosen
        .map(|chosen| chosen.sites.clone())
        .unwrap_or_default()
}

/// As [`find`]. Who has just looked whether there is a Python, and starts it now, need not ask it again.
pub(crate) fn find_again() -> Report {
    const JUST: Duration = Duration::from_secs(10);
    let places = candidates::list();
    let just =
        |last: &Found| last.places == places && last.when.is_some_and(|when| when.elapsed() < JUST);
    let known = last()
        .as_ref()
        .filter(|last| just(last))
        .map(|last| last.report.clone());
    known.unwrap_or_else(find)
}
