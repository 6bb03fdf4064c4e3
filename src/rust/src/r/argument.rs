//! What R passes: read without a jump that skips Rust, and without extendr's table of objects.

use extendr_api::prelude::*;
use extendr_ffi::{
    Rf_xlength, INTEGER_ELT, LOGICAL_ELT, REAL_ELT, SEXP, SEXPTYPE, TYPEOF, VECTOR_ELT,
};

use crate::r::failure::{Failure, Outcome};
use crate::r::object::{described, is_one, text};

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
