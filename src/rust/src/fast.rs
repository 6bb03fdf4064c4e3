//! Functions on the way of every small program: without extendr's bookkeeping.
//!
//! extendr keeps every object that it sees in a table. For a program of a few microseconds that is
//! a good part of the time, so these functions borrow their arguments, which R protects during
//! `.Call`, and return a bare `SEXP`.

use extendr_api::prelude::*;
use extendr_ffi::{Rf_protect, Rf_unprotect, SEXP};

/// An argument of `.Call`, seen as extendr's type without being counted.
///
/// # Safety
/// The object is protected for as long as the reference lives.
pub unsafe fn borrowed(sexp: &SEXP) -> &Robj {
    // SAFETY: an Robj is a transparent SEXP; through a reference nothing is ever released.
    unsafe { &*std::ptr::from_ref(sexp).cast::<Robj>() }
}

/// A new R object on R's protection stack until it goes out of scope (in reverse order).
pub struct Protected(SEXP);

impl Protected {
    /// Protects a fresh object.
    ///
    /// # Safety
    /// On R's thread, with an object that is alive.
    pub unsafe fn new(sexp: SEXP) -> Self {
        // SAFETY: the caller's promise.
        Protected(unsafe { Rf_protect(sexp) })
    }

    /// The object.
    pub fn sexp(&self) -> SEXP {
        self.0
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        // SAFETY: on R's thread; values of this type live in nested scopes, so this is the top.
        unsafe { Rf_unprotect(1) };
    }
}

/// What `#[extendr]` does, for a body that returns `Outcome<SEXP>` and allocates nothing after
/// making its result: `fast! { fn name, wrap__name, meta__name (a, b) { ... } }`. With `or null`
/// before the body a failure becomes NULL: R then goes the long way, where it shows.
macro_rules! fast {
    ($(fn $name:ident, $wrap:ident, $meta:ident ($($arg:ident),*) $(or $null:ident)? $body:block)*) => {$(
        #[no_mangle]
        #[allow(non_snake_case)]
        extern "C" fn $wrap($($arg: extendr_ffi::SEXP),*) -> extendr_ffi::SEXP {
            // SAFETY: R protects the arguments during the call.
            $(let $arg: &extendr_api::Robj = unsafe { $crate::fast::borrowed(&$arg) };)*
            $crate::fast::fast!(@guard || $body $(, $null)?)
        }

        #[allow(non_snake_case)]
        fn $meta(functions: &mut Vec<extendr_api::metadata::Func>) {
            functions.push(extendr_api::metadata::Func {
                doc: "",
                rust_name: stringify!($name),
                mod_name: stringify!($name),
                r_name: stringify!($name),
                c_name: stringify!($wrap),
                args: vec![$(extendr_api::metadata::Arg {
                    name: stringify!($arg),
                    arg_type: "Robj",
                    default: None,
                }),*],
                return_type: "Robj",
                func_ptr: $wrap as *const u8,
                hidden: false,
                invisible: None,
            });
        }
    )*};
    (@guard $body:expr) => { $crate::failure::guard_sexp($body) };
    (@guard $body:expr, null) => { $crate::failure::guard_or_null($body) };
}
pub(crate) use fast;
