//! What goes back to R other than objects of ours and arrays.

use extendr_ffi::{
    cetype_t, R_ClassSymbol, R_NaString, R_NamesSymbol, R_NilValue, Rf_allocVector, Rf_mkCharLenCE,
    Rf_protect, Rf_setAttrib, Rf_unprotect, INTEGER, LOGICAL, RAW, REAL, SET_STRING_ELT,
    SET_VECTOR_ELT, SEXP, SEXPTYPE,
};

use crate::r::unwind::protect;

/// A plain value. It is complete in Rust before an R object is made of it, in one go.
pub enum Value {
    /// NULL.
    Null,
    /// TRUE or FALSE.
    Flag(bool),
    /// One integer.
    Integer(i32),
    /// An integer vector.
    Integers(Vec<i32>),
    /// One double.
    Number(f64),
    /// A double vector.
    Numbers(Vec<f64>),
    /// A raw vector.
    Bytes(Vec<u8>),
    /// A character vector; `None` is NA.
    Texts(Vec<Option<String>>),
    /// A list without names.
    Items(Vec<Value>),
    /// A list with names.
    List(Vec<(String, Value)>),
    /// A value with a class.
    Classed(&'static str, Box<Value>),
}

/// What a function that R calls may return.
pub trait IntoSexp {
    /// The R object, not protected.
    fn into_sexp(self) -> SEXP;
}

impl IntoSexp for SEXP {
    fn into_sexp(self) -> SEXP {
        self
    }
}

impl IntoSexp for () {
    fn into_sexp(self) -> SEXP {
        // SAFETY: a constant of R.
        unsafe { R_NilValue }
    }
}

impl IntoSexp for Value {
    fn into_sexp(self) -> SEXP {
        let value = &self;
        // SAFETY: only functions that R called get here; `make` owns nothing.
        unsafe { protect(|| value.make()) }
    }
}

impl Value {
    /// # Safety
    /// On R's thread, within [`protect`].
    unsafe fn make(&self) -> SEXP {
        // SAFETY: the caller's promise. Each vector is protected while others are made, and filled
        // up to its length.
        unsafe {
            match self {
                Value::Null => R_NilValue,
                Value::Flag(flag) => {
                    let vector = Rf_allocVector(SEXPTYPE::LGLSXP, 1);
                    copy(&[i32::from(*flag)], LOGICAL(vector));
                    vector
                }
                Value::Integer(number) => make_integers(&[*number]),
                Value::Integers(numbers) => make_integers(numbers),
                Value::Number(number) => make_numbers(&[*number]),
                Value::Numbers(numbers) => make_numbers(numbers),
                Value::Bytes(bytes) => {
                    let vector = Rf_allocVector(SEXPTYPE::RAWSXP, bytes.len() as isize);
                    copy(bytes, RAW(vector));
                    vector
                }
                Value::Texts(texts) => {
                    make_texts(texts.iter().map(|text| text.as_deref()), texts.len())
                }
                Value::Items(items) => {
                    let list = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, items.len() as isize));
                    for (index, item) in items.iter().enumerate() {
                        SET_VECTOR_ELT(list, index as isize, item.make());
                    }
                    Rf_unprotect(1);
                    list
                }
                Value::List(parts) => {
                    let count = parts.len();
                    let list = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, count as isize));
                    for (index, (_, value)) in parts.iter().enumerate() {
                        SET_VECTOR_ELT(list, index as isize, value.make());
                    }
                    let names = parts.iter().map(|(name, _)| Some(name.as_str()));
                    let names = Rf_protect(make_texts(names, count));
                    Rf_setAttrib(list, R_NamesSymbol, names);
                    Rf_unprotect(2);
                    list
                }
                Value::Classed(class, value) => {
                    let object = Rf_protect(value.make());
                    let class = Rf_protect(make_texts(std::iter::once(Some(*class)), 1));
                    Rf_setAttrib(object, R_ClassSymbol, class);
                    Rf_unprotect(2);
                    object
                }
            }
        }
    }
}

/// # Safety
/// On R's thread, within [`protect`].
unsafe fn make_integers(numbers: &[i32]) -> SEXP {
    // SAFETY: the caller's promise; a fresh vector of that length.
    unsafe {
        let vector = Rf_allocVector(SEXPTYPE::INTSXP, numbers.len() as isize);
        copy(numbers, INTEGER(vector));
        vector
    }
}

/// # Safety
/// On R's thread, within [`protect`].
unsafe fn make_numbers(numbers: &[f64]) -> SEXP {
    // SAFETY: as above.
    unsafe {
        let vector = Rf_allocVector(SEXPTYPE::REALSXP, numbers.len() as isize);
        copy(numbers, REAL(vector));
        vector
    }
}

/// # Safety
/// `to` has room for all.
unsafe fn copy<T: Copy>(from: &[T], to: *mut T) {
    if !from.is_empty() {
        // SAFETY: the caller's promise; fresh memory overlaps with nothing.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }
}

/// A character vector of `count` texts.
///
/// # Safety
/// On R's thread, within [`protect`]; the iterator owns nothing.
unsafe fn make_texts<'a>(texts: impl Iterator<Item = Option<&'a str>>, count: usize) -> SEXP {
    // SAFETY: the caller's promise; the vector is protected while its elements are made.
    unsafe {
        let vector = Rf_protect(Rf_allocVector(SEXPTYPE::STRSXP, count as isize));
        for (index, text) in texts.enumerate() {
            SET_STRING_ELT(vector, index as isize, make_text(text));
        }
        Rf_unprotect(1);
        vector
    }
}

/// # Safety
/// On R's thread, within [`protect`].
unsafe fn make_text(text: Option<&str>) -> SEXP {
    // SAFETY: the caller's promise; pointer and length are those of a text.
    unsafe {
        text.map_or(R_NaString, |text| {
            // R has no strings that are longer.
            let length = i32::try_from(text.len()).unwrap_or(i32::MAX);
            Rf_mkCharLenCE(text.as_ptr().cast(), length, cetype_t::CE_UTF8)
        })
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Value::Null
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<Vec<i32>> for Value {
    fn from(numbers: Vec<i32>) -> Self {
        Value::Integers(numbers)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::from(text.to_string())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Texts(vec![Some(text)])
    }
}

/// NULL where there is none.
impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        text.map_or(Value::Null, Value::from)
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Value::Texts(texts.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<String>>> for Value {
    fn from(texts: Vec<Option<String>>) -> Self {
        Value::Texts(texts)
    }
}

/// A list with names: `named! { name = value, ... }`.
macro_rules! named {
    ($($name:ident = $value:expr),* $(,)?) => {
        $crate::r::value::Value::List(vec![
            $((stringify!($name).to_string(), $crate::r::value::Value::from($value))),*
        ])
    };
}
pub(crate) use named;
