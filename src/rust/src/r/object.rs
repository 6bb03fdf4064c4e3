//! What any R object is: its type, its attributes, texts in it.

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ClassSymbol, R_NaString, R_NilValue, Rf_getAttrib, Rf_xlength, R_CHAR, SEXP, SEXPTYPE,
    STRING_ELT, TYPEOF,
};
use std::ffi::{c_char, c_void, CStr};

use crate::r::unwind::protect;

extern "C-unwind" {
    fn Rf_translateCharUTF8(text: *mut c_void) -> *const c_char;
}

/// An object of R's, seen as extendr's type without being counted.
///
/// # Safety
/// The object is protected for as long as the reference lives.
pub unsafe fn borrowed(sexp: &SEXP) -> &Robj {
    // SAFETY: an Robj is a transparent SEXP; through a reference nothing is ever released.
    unsafe { &*std::ptr::from_ref(sexp).cast::<Robj>() }
}

/// Whether an object is NULL.
pub fn is_null(value: &Robj) -> bool {
    // SAFETY: a constant of R; both are only compared.
    unsafe { value.get() == R_NilValue }
}

/// Whether an object is a vector of one element of a type.
pub fn is_one(value: &Robj, kind: SEXPTYPE) -> bool {
    // SAFETY: an R object that the caller protects.
    unsafe { TYPEOF(value.get()) == kind && Rf_xlength(value.get()) == 1 }
}

/// One string that is not NA.
pub fn text(value: &Robj) -> Option<&str> {
    // SAFETY: a character vector of one element, which lives as long as the vector.
    is_one(value, SEXPTYPE::STRSXP).then(|| unsafe { element_text(STRING_ELT(value.get(), 0)) })?
}

/// The elements of a character vector; NULL and others have none.
pub fn texts(value: &Robj) -> Vec<Option<&str>> {
    // SAFETY: the type is checked, the index below the length; elements live as long as the vector.
    unsafe {
        let sexp = value.get();
        match TYPEOF(sexp) {
            SEXPTYPE::STRSXP => (0..Rf_xlength(sexp))
                .map(|index| element_text(STRING_ELT(sexp, index)))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// An attribute that R keeps as it is (a class, dimensions, names); NULL where there is none. It
/// lives as long as the object.
///
/// # Safety
/// `name` is a symbol.
pub unsafe fn attribute(value: &Robj, name: SEXP) -> SEXP {
    // SAFETY: R's thread; `getAttrib` makes new objects for row names only.
    unsafe { Rf_getAttrib(value.get(), name) }
}

/// The names in the class attribute.
pub fn classes(value: &Robj) -> Vec<String> {
    // SAFETY: a symbol of R's; the attribute lives as long as `value`.
    unsafe {
        let class = attribute(value, R_ClassSymbol);
        let names = texts(borrowed(&class)).into_iter();
        names
            .map(|name| name.unwrap_or_default().to_string())
            .collect()
    }
}

/// Whether a class is among those of the class attribute.
pub fn inherits(value: &Robj, class: &str) -> bool {
    classes(value).iter().any(|name| name == class)
}

/// A few words for any R object, for errors.
pub fn described(robj: &Robj) -> String {
    match (classes(robj).first(), robj.rtype()) {
        (Some(name), _) => format!("an object of class <{name}>"),
        (None, Rtype::Null) => "NULL".to_string(),
        (None, Rtype::ExternalPtr) => "an external pointer of another package".to_string(),
        (None, Rtype::Doubles) => "a double vector".to_string(),
        (None, Rtype::Integers) => "an integer vector".to_string(),
        (None, Rtype::Complexes) => "a complex vector".to_string(),
        (None, Rtype::Logicals) => "a logical vector".to_string(),
        (None, Rtype::Strings) => "a character vector".to_string(),
        (None, Rtype::List) => "a list".to_string(),
        (None, Rtype::Function) => "a function".to_string(),
        (None, other) => format!("an R object of type {other:?}"),
    }
}

/// An element of a character vector in UTF-8; `None` for NA and what is no text. In a C locale, where R knows of no
/// letters and writes their bytes out as `<c3>`, bytes that are UTF-8 are taken as that: paths come so.
///
/// # Safety
/// On R's thread, with an element that lives as long as the result, within a call from R.
unsafe fn element_text<'a>(element: SEXP) -> Option<&'a str> {
    // SAFETY: the caller's promise; R's strings end with zero. What is translated lives until the
    // call from R ends.
    unsafe {
        if element == R_NaString {
            return None;
        }
        let bytes = CStr::from_ptr(R_CHAR(element));
        if bytes.to_bytes().is_ascii() {
            return bytes.to_str().ok();
        }
        let translated = CStr::from_ptr(protect(|| Rf_translateCharUTF8(element.cast())));
        if translated.to_bytes().is_ascii() {
            if let Ok(text) = bytes.to_str() {
                return Some(text);
            }
        }
        translated.to_str().ok()
    }
}
