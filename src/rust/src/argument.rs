//! What R passes: read without a jump that skips Rust, and without extendr's table of objects.

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ClassSymbol, R_NaString, R_NilValue, Rf_getAttrib, Rf_xlength, INTEGER_ELT, LOGICAL_ELT,
    REAL_ELT, R_CHAR, SEXP, SEXPTYPE, STRING_ELT, TYPEOF, VECTOR_ELT,
};
use std::ffi::{c_char, c_void, CStr};

use crate::failure::{Failure, Outcome};
use crate::pointer::described;
use crate::unwind::protect;

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

/// A type that an argument can have. A value of another type is refused with the argument's name.
pub trait Argument<'a>: Sized {
    /// The argument's value.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything else.
    fn read(value: &'a Robj, name: &str) -> Outcome<Self>;
}

impl<'a> Argument<'a> for &'a str {
    fn read(value: &'a Robj, name: &str) -> Outcome<Self> {
        text(value).ok_or_else(|| wrong(value, name, "one string"))
    }
}

impl<'a> Argument<'a> for bool {
    fn read(value: &'a Robj, name: &str) -> Outcome<Self> {
        flag(value).ok_or_else(|| wrong(value, name, "TRUE or FALSE"))
    }
}

impl<'a> Argument<'a> for f64 {
    fn read(value: &'a Robj, name: &str) -> Outcome<Self> {
        number(value).ok_or_else(|| wrong(value, name, "one number"))
    }
}

fn wrong(value: &Robj, name: &str, expected: &str) -> Failure {
    Failure::argument(
        name,
        format!("`{name}` must be {expected}, not {}", described(value)),
    )
}

/// Whether an object is NULL.
pub fn is_null(value: &Robj) -> bool {
    // SAFETY: a constant of R; both are only compared.
    unsafe { value.get() == R_NilValue }
}

/// Whether an object is a vector of one element of a type.
fn is_one(value: &Robj, kind: SEXPTYPE) -> bool {
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

/// An element of a character vector in UTF-8; `None` for NA and what is no text.
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
        CStr::from_ptr(protect(|| Rf_translateCharUTF8(element.cast())))
            .to_str()
            .ok()
    }
}

/// TRUE or FALSE.
pub fn flag(value: &Robj) -> Option<bool> {
    if !is_one(value, SEXPTYPE::LGLSXP) {
        return None;
    }
    // SAFETY: a logical vector of one element.
    match unsafe { LOGICAL_ELT(value.get(), 0) } {
        i32::MIN => None,
        flag => Some(flag != 0),
    }
}

/// One integer or double that is not NA.
pub fn number(value: &Robj) -> Option<f64> {
    if let Some(integer) = integer(value) {
        return Some(f64::from(integer));
    }
    // SAFETY: a double vector of one element.
    let number = is_one(value, SEXPTYPE::REALSXP).then(|| unsafe { REAL_ELT(value.get(), 0) })?;
    (!number.is_nan()).then_some(number)
}

/// One integer that is not NA.
pub fn integer(value: &Robj) -> Option<i32> {
    // SAFETY: an integer vector of one element.
    let number = is_one(value, SEXPTYPE::INTSXP).then(|| unsafe { INTEGER_ELT(value.get(), 0) })?;
    (number != i32::MIN).then_some(number)
}

/// Whole numbers, integers or doubles, that are not negative; NULL is none of them.
pub fn counts(value: &Robj) -> Option<Vec<i64>> {
    // SAFETY: types are checked, indices below the length.
    unsafe {
        let sexp = value.get();
        let count = Rf_xlength(sexp);
        match TYPEOF(sexp) {
            SEXPTYPE::NILSXP => Some(Vec::new()),
            SEXPTYPE::INTSXP => (0..count)
                .map(|index| Some(i64::from(INTEGER_ELT(sexp, index))).filter(|&x| x >= 0))
                .collect(),
            SEXPTYPE::REALSXP => (0..count)
                .map(|index| Some(REAL_ELT(sexp, index)))
                .map(|x| x.filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)))
                .map(|x| x.map(|x| x as i64))
                .collect(),
            _ => None,
        }
    }
}

/// The elements of a list, which live as long as it does; others have none.
pub fn elements(list: &Robj) -> Vec<SEXP> {
    // SAFETY: the type is checked, the index below the length.
    unsafe {
        match TYPEOF(list.get()) {
            SEXPTYPE::VECSXP => (0..Rf_xlength(list.get()))
                .map(|index| VECTOR_ELT(list.get(), index))
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
