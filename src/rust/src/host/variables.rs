//! What compiled functions read: whether variables, and the search path, are what they were.

use std::ffi::c_void;

use extendr_api::Robj;
use extendr_ffi::{
    get_parent_env, R_MissingArg, R_NilValue, Rboolean, Rf_isFunction, LENGTH, SEXP, SEXPTYPE,
    STRING_ELT, TYPEOF, VECTOR_ELT,
};

use crate::r::argument::{elements, flag, number};
use crate::r::entry::routines;
use crate::r::object::{borrowed, is_null};
use crate::r::unwind::protect;
use crate::r::value::Value;

// R's objects, as pointers to what only R knows.
extern "C-unwind" {
    fn R_existsVarInFrame(env: *mut c_void, symbol: *mut c_void) -> Rboolean;
    fn Rf_eval(expression: *mut c_void, env: *mut c_void) -> *mut c_void;
    fn Rf_installTrChar(name: *mut c_void) -> *mut c_void;
}

routines! {
    // Whether nothing is other than it was: see unchanged_since().
    fn unchanged(variables, version, places) {
        Ok(Value::from(unchanged_since(variables, version, places)))
    }
}

/// Whether the variables of groups as captured_variables() gives them hold the objects that they held, not equal ones,
/// NULL standing for none, and in groups of functions for all else; and whether the search path is the one of this
/// version, NULL standing for any. `places` are the version of the search path that R found last and then environments,
/// by twos: one, and what was around it. False for groups and places of another kind.
pub fn unchanged_since(variables: &Robj, version: &Robj, places: &Robj) -> bool {
    let places = elements(places);
    let Some((now, path)) = places.split_first() else {
        return false;
    };
    // SAFETY: an element of a list that R protects.
    let now = unsafe { borrowed(now) };
    let is_there = |pair: &[SEXP]| match *pair {
        // SAFETY: R's thread; an element of a list that R protects, whose type is looked at first.
        [env, around] => unsafe {
            TYPEOF(env) == SEXPTYPE::ENVSXP && get_parent_env(env) == around
        },
        _ => false,
    };
    (is_null(version) || number(version) == number(now))
        && path.chunks(2).all(is_there)
        && elements(variables).iter().all(|group| {
            // SAFETY: an element of a list that R protects.
            match elements(unsafe { borrowed(group) })[..] {
                // SAFETY: R's thread; the elements live as long as the list.
                [env, names, values, functions, ..] => unsafe {
                    let functions = flag(borrowed(&functions)) == Some(true);
                    group_is_same(env, names, values, functions)
                },
                _ => false,
            }
        })
}

/// # Safety
/// On R's thread, within a call of a routine, with objects that R protects.
unsafe fn group_is_same(env: SEXP, names: SEXP, values: SEXP, functions: bool) -> bool {
    // SAFETY: the caller's promise; types and lengths are looked at before they are relied on. Names of variables are
    // strings that R has, so that a symbol is found, or made; evaluating one may run code of an active binding or of an
    // argument that was not looked at yet, and jump: there is nothing to be freed but the elements, which outlive it.
    unsafe {
        let fits = TYPEOF(env) == SEXPTYPE::ENVSXP
            && TYPEOF(names) == SEXPTYPE::STRSXP
            && TYPEOF(values) == SEXPTYPE::VECSXP
            && LENGTH(names) == LENGTH(values);
        fits && protect(|| {
            (0..LENGTH(names) as isize).all(|index| {
                let symbol = Rf_installTrChar(STRING_ELT(names, index).cast()).cast();
                let held = VECTOR_ELT(values, index);
                // An argument that was left out cannot be evaluated.
                if held == R_MissingArg {
                    return false;
                }
                let value = variable(env, symbol).unwrap_or(R_NilValue);
                let counts = !functions || Rf_isFunction(value) == Rboolean::TRUE;
                held == if counts { value } else { R_NilValue }
            })
        })
    }
}

/// The value of a variable of an environment itself.
///
/// # Safety
/// On R's thread, with an environment and a symbol that R protects, where R may jump.
pub unsafe fn variable(env: SEXP, symbol: SEXP) -> Option<SEXP> {
    // SAFETY: the caller's promise.
    unsafe {
        let exists = R_existsVarInFrame(env.cast(), symbol.cast()) == Rboolean::TRUE;
        exists.then(|| Rf_eval(symbol.cast(), env.cast()).cast())
    }
}
