//! The package bit64, without whose methods its 64-bit integers are doubles to R.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use extendr_ffi::Rf_install;

use crate::r::unwind::protect;
use crate::r::value::Value;

/// R's objects, which extendr does not take for types of C.
type Object = *mut c_void;

extern "C-unwind" {
    static R_BaseEnv: Object;
    fn Rf_mkString(text: *const c_char) -> Object;
    fn Rf_lang2(function: Object, first: Object) -> Object;
    fn Rf_protect(object: Object) -> Object;
    fn Rf_unprotect(count: i32);
    fn Rf_eval(call: Object, environment: Object) -> Object;
}

thread_local! {
    static LOADED: Cell<bool> = const { Cell::new(false) };
}

/// Loads bit64 before its first object is made: most sessions have none, and do without. On R's thread.
pub fn load() {
    if LOADED.get() {
        return;
    }
    // SAFETY: R's thread; what is allocated is protected, and nothing is to be freed at a jump.
    unsafe {
        protect(|| {
            let name = Rf_protect(Rf_mkString(c"bit64".as_ptr()));
            let call = Rf_protect(Rf_lang2(Rf_install(c"loadNamespace".as_ptr()).cast(), name));
            Rf_eval(call, R_BaseEnv);
            Rf_unprotect(2);
        });
    }
    LOADED.set(true);
}

/// Integers as an object of bit64's. On R's thread.
pub fn integers(values: &[i64]) -> Value {
    load();
    let bits = values.iter().map(|value| f64::from_bits(*value as u64));
    Value::Classed("integer64", Box::new(Value::Numbers(bits.collect())))
}
