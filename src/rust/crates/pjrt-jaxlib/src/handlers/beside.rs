//! Handlers of other hosts whose names are taken by handlers of this library: they are registered beside these, by other
//! names.

use programs::contains;
use std::sync::{PoisonError, RwLock};

/// What other hosts' handlers are called for whose names are taken by handlers of this library.
pub(super) const BESIDE: &str = "xlaffi.other.";
static HAVE_BESIDE: RwLock<Vec<String>> = RwLock::new(Vec::new());

pub(super) fn note_beside(target: &str) {
    let mut names = HAVE_BESIDE.write().unwrap_or_else(PoisonError::into_inner);
    names.push(target.to_owned());
}

/// Whether a program of another host may call one of the names that mean something else in its programs.
pub(crate) fn may_mean_others(code: &[u8]) -> bool {
    let names = HAVE_BESIDE.read().unwrap_or_else(PoisonError::into_inner);
    names.iter().any(|name| contains(code, name.as_bytes()))
}
