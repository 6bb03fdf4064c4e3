//! Which targets must not be run twice: a call frame does not tell.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::registry::state::Registry;

static MARKED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

impl Registry {
    /// Says that calls of a target have side effects, as programs do in `has_side_effect`: a
    /// [`Debug`](super::Debug) runs their handlers once.
    pub fn has_side_effect(&self, target: &str) {
        let mut marked = MARKED.lock().unwrap_or_else(PoisonError::into_inner);
        let marked = marked.get_or_insert_with(HashSet::new);
        if !marked.contains(target) {
            marked.insert(target.to_owned());
        }
    }
}

pub(super) fn has(target: &str) -> bool {
    let marked = MARKED.lock().unwrap_or_else(PoisonError::into_inner);
    marked
        .as_ref()
        .is_some_and(|marked| marked.contains(target))
}
