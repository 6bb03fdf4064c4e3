//! The call of R that serves a request.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{R_PreserveObject, Rf_ScalarInteger, Rf_protect, Rf_unprotect, SEXP};

use crate::r::unwind::protect;

/// R's objects, which extendr does not take for types of C.
type Object = *mut c_void;

extern "C-unwind" {
    fn Rf_ScalarLogical(value: c_int) -> Object;
    fn Rf_ScalarReal(value: f64) -> Object;
    fn Rf_lang4(function: Object, first: Object, second: Object, third: Object) -> Object;
    fn Rf_eval(call: Object, environment: Object) -> Object;
}

thread_local! {
    /// `serve_callback()` of the package and the namespace that it is evaluated in; R keeps them.
    static SERVER: Cell<Option<(SEXP, SEXP)>> = const { Cell::new(None) };
}

/// Has `call` of R serve from now on: a function's name, and where it is found.
pub fn serve_by(name: &Robj, namespace: &Robj) {
    // SAFETY: R's thread.
    let server = unsafe {
        let (name, namespace) = (name.get(), namespace.get());
        protect(|| {
            R_PreserveObject(name);
            R_PreserveObject(namespace);
        });
        (name, namespace)
    };
    SERVER.set(Some(server));
}

/// Has R serve the request that is the current one. On R's thread; R's jumps unwind.
///
/// `calls` is how often the function is called, for an element of a batch each; `None`: once for all.
pub fn evaluate(number: i32, calls: Option<usize>, is_contained: bool) {
    let Some((name, namespace)) = SERVER.get() else {
        return;
    };
    // SAFETY: R's thread; what is allocated is protected, and nothing is to be freed at a jump.
    unsafe {
        protect(|| {
            let number = Rf_protect(Rf_ScalarInteger(number));
            let calls = Rf_ScalarReal(calls.map_or(-1.0, |calls| calls as f64));
            let calls = Rf_protect(calls.cast());
            let is_contained = Rf_protect(Rf_ScalarLogical(is_contained.into()).cast());
            let call = Rf_lang4(
                name.cast(),
                number.cast(),
                calls.cast(),
                is_contained.cast(),
            );
            let call = Rf_protect(call.cast());
            Rf_eval(call.cast(), namespace.cast());
            Rf_unprotect(4);
        });
    }
}
