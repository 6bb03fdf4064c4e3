//! The LAPACK that is used: found when a routine is first called, checked, and kept for good.

mod candidates;
mod conventions;
mod loaded;
mod lock;
mod table;
mod threads;
mod trial;

use crate::error::{Error, Refused, Result};
use crate::int::Int;
use crate::tables::{c, d, s, z};
use candidates::Search;
use conventions::{Convention, CONVENTIONS};
use loaded::Loaded;
use lock::lock;
use std::cell::Cell;
use std::sync::{Mutex, OnceLock};
use table::Library;
use threads::Control;

pub use candidates::{look_in, Sites};
pub use loaded::{linked_to, Linked};
pub use table::About;
pub use threads::{Turn, Work};

/// Set to `0`, single precision is computed in double precision even where the library has it.
pub const SINGLE: &str = "XLAFFI_F32_LAPACK";

/// The library in use, and those that came before it.
static CHOSEN: OnceLock<(&'static Library, Vec<Refused>)> = OnceLock::new();

thread_local! {
    /// What this thread tries.
    static TRIAL: Cell<Option<&'static Library>> = const { Cell::new(None) };
}

/// The library in use.
#[inline]
pub(crate) fn current() -> Option<&'static Library> {
    match CHOSEN.get() {
        Some((library, _)) => Some(library),
        None => not_yet(),
    }
}

#[cold]
fn not_yet() -> Option<&'static Library> {
    TRIAL.get().or_else(|| choose().ok())
}

impl Turn {
    /// Waits until nobody is there who wants another number of threads.
    #[must_use]
    pub fn new(work: Work) -> Self {
        let control = current().map_or(Control::None, |library| library.threads);
        Turn::of(work, control)
    }
}

/// A library and those that were not taken, or why there is none.
type Found = (Result<&'static Library>, Vec<Refused>);

/// Finds a library where none has been found yet. A failure is not kept: the next call looks again.
///
/// # Errors
/// There is none that can be used.
pub(crate) fn choose() -> Result<&'static Library> {
    let (found, refused) = look();
    let library = found?;
    Ok(CHOSEN.get_or_init(|| (library, refused)).0)
}

/// The library in use and those that were not taken; where none has been used yet, those as of now.
pub fn report() -> (Result<About>, Vec<Refused>) {
    let (found, refused) = look();
    let about = found.map(|library| About {
        threads: library.threads.count(),
        ..library.about.clone()
    });
    (about, refused)
}

fn look() -> Found {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = lock(&ONE_AT_A_TIME);
    if let Some((library, refused)) = CHOSEN.get() {
        return (Ok(library), refused.clone());
    }
    let search = Search::from_environment();
    let mut refused = Vec::new();
    let found = search.candidates().into_iter().find_map(|candidate| {
        let place = candidate.place;
        let (path, loaded) = candidate.open()?;
        match loaded.and_then(|loaded| take(place, &path, loaded)) {
            Ok(library) => Some(library),
            Err(why) => {
                refused.push(Refused { place, path, why });
                None
            }
        }
    });
    let found = found.ok_or_else(|| Error::NoLibrary {
        asked: search.asked().map(str::to_owned),
        refused: refused.clone(),
    });
    (found, refused)
}

/// Checks a library; the error says what it lacks.
fn take(
    place: &'static str,
    path: &str,
    loaded: Loaded,
) -> std::result::Result<&'static Library, String> {
    let convention = convention(&loaded)?;
    let find = |routine: &'static str| loaded.find(&convention.symbol(routine));
    let lacks = |routine: &str| format!("has no {}", convention.symbol(routine));
    let single = std::env::var_os(SINGLE).map_or(true, |value| value != "0");
    let (d, z) = (
        d::Table::new(&find).map_err(lacks)?,
        z::Table::new(&find).map_err(lacks)?,
    );
    let (s, c) = match (s::Table::new(&find), c::Table::new(&find)) {
        (Ok(s), Ok(c)) if single => (Some(s), Some(c)),
        _ => (None, None),
    };
    let threads = Control::of(&loaded, convention);
    // For good: threads of the library's may run.
    let library: &'static Library = Box::leak(Box::new(Library {
        s,
        d,
        c,
        z,
        threads,
        about: About {
            place,
            path: path.to_owned(),
            version: loaded.version(convention),
            single: s.is_some(),
            threads: None,
        },
    }));
    TRIAL.set(Some(library));
    let outcome = trial::run(library);
    TRIAL.set(None);
    outcome.map(|()| library)
}

/// The convention that a library's names follow.
fn convention(loaded: &Loaded) -> std::result::Result<Convention, String> {
    const ANY: &str = "dgetrf";
    let found = CONVENTIONS
        .into_iter()
        .find(|convention| loaded.find(&convention.symbol(ANY)).is_some())
        .ok_or("is no LAPACK: it has no dgetrf")?;
    if found.integers != Int::BITS {
        return Err(format!(
            "has {}-bit integers only ({}), and the ops use {}-bit ones",
            found.integers,
            found.symbol(ANY),
            Int::BITS
        ));
    }
    Ok(found)
}
