//! Variables that compiled functions read: whether they are what they were.

use std::ffi::c_void;

use extendr_ffi::{
    R_MissingArg, R_NilValue, Rboolean, Rf_isFunction, LENGTH, SEXP, SEXPTYPE, STRING_ELT, TYPEOF,
    VECTOR_ELT,
};

use crate::r::argument::{elements, flag};
use crate::r::entry::routines;
use crate::r::object::borrowed;
use crate::r::unwind::protect;
use crate::r::value::Value;

// R's objects, as pointers to what only R knows.
extern "C-unwind" {
    fn R_existsVarInFrame(env: *mut c_void, symbol: *mut c_void) -> Rboolean;
    fn Rf_eval(expression: *mut c_void, env: *mut c_void) -> *mut c_void;
    fn Rf_installTrChar(name: *mut c_void) -> *mut c_void;
}

routines! {
    // Whether the variables of groups as captured_variables() gives them hold the objects that they held, not equal ones,
    // NULL standing for none, and in groups of functions for all else. FALSE for groups of another kind.
    fn same_variables(groups) {
        let same = elements(groups).iter().all(|group| {
            // SAFETY: an element of a list that R protects.
            match elements(unsafe { borrowed(group) })[..] {
                // SAFETY: R's thread; the elements live as long as the list.
                [env, names, values, functions, ..] => unsafe {
                    let functions = flag(borrowed(&functions)) == Some(true);
                    group_is_same(env, names, values, functions)
                },
                _ => false,
            }
        });
        Ok(Value::from(same))
    }
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
                let symbol = Rf_installTrChar(STRING_ELT(names, index).cast());
                let held = VECTOR_ELT(values, index);
                match R_existsVarInFrame(env.cast(), symbol) {
                    // An argument that was left out cannot be evaluated.
                    Rboolean::TRUE if held == R_MissingArg => false,
                    Rboolean::TRUE => {
                        let value: SEXP = Rf_eval(symbol, env.cast()).cast();
                        let counts = !functions || Rf_isFunction(value) == Rboolean::TRUE;
                        held == if counts { value } else { R_NilValue }
                    }
                    _ => held == R_NilValue,
                }
            })
        })
    }
}
