//! Names that live for ever, as errors want them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The one copy of a name. A redefined op's names are there already.
pub(crate) fn interned(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(HashSet::new);
    if let Some(name) = names.get(name) {
        return name;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}
