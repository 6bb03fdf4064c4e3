//! Calls of compiled functions that have been called with arguments of these types before.

use std::ffi::CString;

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{
    R_NamesSymbol, R_NilValue, Rboolean, Rf_cons, Rf_install, Rf_isObject, Rf_setAttrib, SEXP,
    SEXPTYPE, TYPEOF,
};

use crate::host::execute::call;
use crate::host::signature::signature_of;
use crate::host::variables::{unchanged_since, variable};
use crate::r::argument::{elements, flag};
use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::object::{borrowed, is_null};
use crate::r::protected::Protected;
use crate::r::unwind::protect;
use crate::r::value::IntoSexp;

routines! {
    // What the function `id` (see signature()) gives for these arguments, if what it ran for arguments of their types
    // before can be run at once. The environment `known` has, by signatures, lists as known_run() makes them, and `places`
    // are those of unchanged(). NULL if R has to look itself; and where it has to see to what came, as to a failure, a
    // pairlist of that and of the call.
    fn call_again(id, arguments, known, places) or null {
        // SAFETY: a constant of R.
        let null = unsafe { R_NilValue };
        let Some(found) = found(id, arguments, known) else {
            return Ok(null);
        };
        // SAFETY: a list that is protected, or NULL; its elements live as long.
        let parts = elements(unsafe { borrowed(&found.sexp()) });
        let [executable, dtypes, device, read, names, variables, version, known_call] = parts[..] else {
            return Ok(null);
        };
        // SAFETY: as above.
        unsafe {
            if !unchanged_since(borrowed(&variables), borrowed(&version), places) {
                return Ok(null);
            }
            let read = flag(borrowed(&read)) == Some(true);
            let alone = flag(borrowed(&names)) == Some(false);
            let (executable, dtypes, device) = (borrowed(&executable), borrowed(&dtypes), borrowed(&device));
            let result = call(executable, arguments, dtypes, device, read, alone);
            Ok(finished(result.unwrap_or_else(Failure::into_sexp), borrowed(&names), known_call))
        }
    }
}

/// What `call()` gave, which is not protected: a list gets its names. One with a class, as failures are, is no result
/// yet, and comes with the call in a pairlist.
pub fn finished(result: SEXP, names: &Robj, known_call: SEXP) -> SEXP {
    // SAFETY: R's thread; a fresh object, protected while R allocates, and objects that R protects.
    unsafe {
        if TYPEOF(result) != SEXPTYPE::VECSXP {
            return result;
        }
        let _kept = Protected::new(result);
        if Rf_isObject(result) == Rboolean::TRUE {
            let with_call = Protected::new(protect(|| Rf_cons(known_call, R_NilValue)));
            let rest = with_call.sexp();
            return protect(|| Rf_cons(result, rest));
        }
        if !is_null(names) {
            let names = names.get();
            protect(|| Rf_setAttrib(result, R_NamesSymbol, names));
        }
        result
    }
}

/// What the environment has under the signature; protected, as code of the user's that evaluates a variable may have it
/// forgotten.
fn found(id: &Robj, arguments: &Robj, known: &Robj) -> Option<Protected> {
    let signature = signature_of(id, arguments).ok().flatten()?;
    let name = CString::new(signature).ok()?;
    // SAFETY: R's thread; the type is looked at first. R's symbols are never collected, and variables of this
    // environment are no code.
    unsafe {
        if TYPEOF(known.get()) != SEXPTYPE::ENVSXP {
            return None;
        }
        let (env, name) = (known.get(), name.as_ptr());
        let found = protect(|| variable(env, Rf_install(name)));
        found.map(|found| Protected::new(found))
    }
}
