//! The package bit64, without whose methods its 64-bit integers are doubles to R.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use extendr_ffi::{Rf_protect, Rf_unprotect};

use crate::r::call::call_base;
use crate::r::unwind::protect;
use crate::r::value::Value;

extern "C-unwind" {
    fn Rf_mkString(text: *const c_char) -> *mut c_void;
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
            let name = Rf_protect(Rf_mkString(c"bit64".as_ptr()).cast());
            call_base(c"loadNamespace", &[name]);
            Rf_unprotect(1);
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
