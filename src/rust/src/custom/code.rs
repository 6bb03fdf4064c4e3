//! What processes that compute together compare of the handlers that their programs call.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::r::entry::routines;
use crate::r::object::text;

/// Of handlers that are no ops with a signature, by target.
static KNOWN: RwLock<Option<HashMap<String, u64>>> = RwLock::new(None);

/// What a call is made of, see `pjrt_jaxlib::mesh::CodeOf`.
pub fn code_of(target: &str, op: Option<i64>) -> Option<u64> {
    custom_ops::common(target, op).or_else(|| {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.get(target).copied()
    })
}

routines! {
    // Notes what the handler of a target is made of, a digest in hexadecimal digits; NULL: nobody knows.
    fn code_note(target: &str, code) {
        let digits = text(code).and_then(|code| code.get(..16));
        let code = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_with(HashMap::new);
        match code {
            Some(code) => known.insert(target.to_owned(), code),
            None => known.remove(target),
        };
        Ok(())
    }
}
