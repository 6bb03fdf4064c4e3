//! R external pointers to Rust objects.
//!
//! extendr's own `ExternalPtr` reads a foreign pointer as if it were its own before it looks at
//! the type. Here the tag of the pointer, a symbol that only this package sets, is checked first,
//! so that a pointer of another package, a cleared one or any other object is refused with a text.

use std::ffi::CStr;
use std::fmt::Display;
use std::ptr::null_mut;
use std::sync::OnceLock;

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ClassSymbol, R_ClearExternalPtr, R_ExternalPtrAddr, R_ExternalPtrTag, R_MakeExternalPtr,
    R_NilValue, R_PreserveObject, R_RegisterCFinalizerEx, R_SetExternalPtrAddr, Rboolean,
    Rf_install, Rf_protect, Rf_setAttrib, Rf_unprotect, SET_VECTOR_ELT, SEXP, SEXPTYPE, TYPEOF,
};

use crate::r::failure::{Failure, Outcome};
use crate::r::finalizer::free;
use crate::r::object::{attribute, classes, described};
use crate::r::protected::alloc_list;
use crate::r::unwind::protect;
use crate::r::value::{IntoSexp, Value};

/// A Rust type that R holds through an external pointer.
pub trait Class: Sized + 'static {
    /// S3 class, also the tag of the pointer.
    const CLASS: &'static CStr;
    /// How an error calls it: "a buffer made by pjrt_buffer()".
    const WHAT: &'static str;
    /// Where the symbols of this class are kept.
    fn symbols() -> &'static OnceLock<Symbols>;
}

/// The tag and the class attribute of a class: R objects that are never collected.
#[derive(Clone, Copy)]
pub struct Symbols {
    tag: SEXP,
    class: SEXP,
}

// SAFETY: both are only compared, or handed to R on R's own thread.
unsafe impl Send for Symbols {}
// SAFETY: as above; they are never written through.
unsafe impl Sync for Symbols {}

fn symbols<T: Class>() -> Symbols {
    *T::symbols().get_or_init(|| {
        // SAFETY: R's thread (only functions called from R get here); the symbol is permanent
        // and the class vector is preserved.
        unsafe {
            let class = Value::from(T::CLASS.to_string_lossy().into_owned()).into_sexp();
            protect(|| {
                R_PreserveObject(class);
                Symbols {
                    tag: Rf_install(T::CLASS.as_ptr()),
                    class,
                }
            })
        }
    })
}

extern "C" fn finalize<T: Class>(pointer: SEXP) {
    // What a forked child has copies of is the parent's to free.
    if fork::is_child() {
        return;
    }
    // SAFETY: R calls this once per pointer made by `wrap::<T>`, whose address is a leaked
    // `Box<T>` or NULL when it was cleared before.
    unsafe {
        let address = R_ExternalPtrAddr(pointer).cast::<T>();
        if !address.is_null() {
            R_ClearExternalPtr(pointer);
            let value = Box::from_raw(address);
            free(move || {
                // A panic in a destructor must not unwind into R's collector.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || drop(value)));
            });
        }
    }
}

/// Hands `value` to R: an object, not protected. It is dropped when R collects the object, or at R's
/// exit.
pub fn wrap<T: Class>(value: T) -> SEXP {
    let symbols = symbols::<T>();
    // SAFETY: R's thread; the pointer is protected while others are allocated. It is NULL until
    // nothing can jump any more, so that the value is freed either here or by the finaliser.
    unsafe {
        let pointer = protect(|| {
            let pointer = Rf_protect(R_MakeExternalPtr(null_mut(), symbols.tag, R_NilValue));
            R_RegisterCFinalizerEx(pointer, Some(finalize::<T>), Rboolean::TRUE);
            Rf_setAttrib(pointer, R_ClassSymbol, symbols.class);
            Rf_unprotect(1);
            pointer
        });
        R_SetExternalPtrAddr(pointer, Box::into_raw(Box::new(value)).cast());
        pointer
    }
}

/// A list of wrapped values, not protected.
pub fn wrap_list<T: Class>(values: Vec<T>) -> SEXP {
    let list = alloc_list(values.len());
    for (index, value) in values.into_iter().enumerate() {
        // SAFETY: R's thread; the list is protected while its elements are made, and has as many.
        unsafe { SET_VECTOR_ELT(list.sexp(), index as isize, wrap(value)) };
    }
    list.sexp()
}

/// The Rust object behind an R object, or a failure that says what came instead.
/// `argument` is how the user knows it; it is only written out for an error.
pub fn get<T: Class>(robj: &Robj, argument: impl Display) -> Outcome<&T> {
    // SAFETY: the type is checked before the tag and the tag before the address, so the address
    // is a live `Box<T>`; it lives as long as the R object that `robj` protects.
    unsafe {
        let sexp = robj.get();
        if TYPEOF(sexp) == SEXPTYPE::EXTPTRSXP && R_ExternalPtrTag(sexp) == symbols::<T>().tag {
            return R_ExternalPtrAddr(sexp)
                .cast::<T>()
                .as_ref()
                .ok_or_else(|| gone::<T>(&argument.to_string()));
        }
    }
    Err(refused::<T>(robj, &argument.to_string()))
}

/// Whether the class attribute is the one that [`wrap`] gave: no subclass, nothing set by hand.
pub fn has_own_class<T: Class>(robj: &Robj) -> bool {
    // SAFETY: R's thread; the attribute is only compared.
    unsafe { attribute(robj, R_ClassSymbol) == symbols::<T>().class }
}

fn gone<T: Class>(argument: &str) -> Failure {
    Failure {
        code: "FAILED_PRECONDITION",
        ..Failure::argument(
            argument,
            format!(
                "`{argument}` is {} that no longer exists (a NULL external pointer)",
                T::WHAT
            ),
        )
    }
    .hint("External pointers do not survive saving and loading: make the object again.")
}

fn refused<T: Class>(robj: &Robj, argument: &str) -> Failure {
    let failure = Failure::argument(
        argument,
        format!("`{argument}` must be {}, not {}", T::WHAT, described(robj)),
    );
    if classes(robj).iter().any(|name| name.starts_with("PJRT")) {
        failure.hint("It belongs to the package pjrt; objects of pjrt and xlaffi do not mix.")
    } else {
        failure
    }
}

/// Implements [`Class`]: `class!(Type, c"s3_class", "what errors call it")`.
macro_rules! class {
    ($type:ty, $class:literal, $what:literal) => {
        impl $crate::r::pointer::Class for $type {
            const CLASS: &'static std::ffi::CStr = $class;
            const WHAT: &'static str = $what;
            fn symbols() -> &'static std::sync::OnceLock<$crate::r::pointer::Symbols> {
                static SYMBOLS: std::sync::OnceLock<$crate::r::pointer::Symbols> =
                    std::sync::OnceLock::new();
                &SYMBOLS
            }
        }
    };
}
pub(crate) use class;
