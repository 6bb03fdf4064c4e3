//! Errors on their way to R: data, raised as a condition by `raise()` in `R/condition.R`.
//!
//! extendr turns an `Err` into a bare string and jumps out of Rust with it. So nothing here
//! returns `Err` to extendr: a failed call returns an R list of class `xlaffi_failure`.

use std::fmt::Display;
use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use extendr_api::wrapper;
use extendr_ffi::{R_NilValue, SEXP};

/// XLA's code, the text, and what the error is about as far as it is known.
#[derive(Debug)]
pub struct Failure {
    /// One of XLA's code names, e.g. `INVALID_ARGUMENT`.
    pub code: &'static str,
    /// One sentence for the user.
    pub message: String,
    /// The op (custom call target) or the function that refused.
    pub op: Option<String>,
    /// The argument that was refused.
    pub operand: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Result of everything below the functions that R calls.
pub type Outcome<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with a code and a message only.
    pub fn new(code: &'static str, message: impl Display) -> Self {
        Failure {
            code,
            message: message.to_string(),
            op: None,
            operand: None,
            hint: None,
        }
    }

    /// An argument that cannot be used.
    pub fn argument(operand: &str, message: impl Display) -> Self {
        Failure {
            operand: Some(operand.to_string()),
            ..Failure::new("INVALID_ARGUMENT", message)
        }
    }

    /// XLA was used before this process was forked.
    pub fn forked() -> Self {
        Failure::new("FAILED_PRECONDITION", fork::MESSAGE).hint(fork::HINT)
    }

    /// Adds what the user can do.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    fn into_robj(self) -> Robj {
        let list = List::from_pairs([
            ("code", Robj::from(self.code)),
            ("message", Robj::from(self.message)),
            ("op", or_null(self.op)),
            ("operand", or_null(self.operand)),
            ("hint", or_null(self.hint)),
        ]);
        let mut robj: Robj = list.into();
        let class: Robj = "xlaffi_failure".into();
        match robj.set_attrib(wrapper::symbol::class_symbol(), class) {
            Ok(object) => object.clone(),
            Err(_) => robj,
        }
    }
}

/// extendr makes NA of `None`.
pub fn or_null<T: Into<Robj>>(value: Option<T>) -> Robj {
    value.map_or_else(|| Robj::from(()), Into::into)
}

impl From<pjrt::Error> for Failure {
    fn from(error: pjrt::Error) -> Self {
        if error.kind() == pjrt::Kind::Forked {
            return Failure::forked();
        }
        let op = crate::registry::op_named_in(error.message());
        Failure {
            op,
            ..Failure::new(error.code().name(), error.message())
        }
    }
}

/// Runs the body of a function that R calls: an error or a panic becomes data.
pub fn guard<T: Into<Robj>>(body: impl FnOnce() -> Outcome<T>) -> Robj {
    match caught(body) {
        Ok(value) => value.into(),
        Err(failure) => failure.into_robj(),
    }
}

/// As [`guard`], for a body that returns a bare object and allocates nothing after making it.
pub fn guard_sexp(body: impl FnOnce() -> Outcome<SEXP>) -> SEXP {
    // SAFETY: the failure's object is released by the end of this line, and R takes it over
    // before anything is allocated.
    caught(body).unwrap_or_else(|failure| unsafe { failure.into_robj().get() })
}

/// As [`guard_sexp`], where a failure makes NULL: R then goes a way on which it shows.
pub fn guard_or_null(body: impl FnOnce() -> Outcome<SEXP>) -> SEXP {
    // SAFETY: a constant of R.
    caught(body).unwrap_or(unsafe { R_NilValue })
}

fn caught<T>(body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    if fork::is_child() {
        return Err(Failure::forked());
    }
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

/// What a caught panic becomes.
pub fn panicked(payload: &(dyn std::any::Any + Send)) -> Failure {
    Failure::new(
        "INTERNAL",
        format!(
            "a panic in the Rust code of xlaffi: {}",
            panic_text(payload)
        ),
    )
    .hint("This is a bug in xlaffi; please report it.")
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_string()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".to_string()
    }
}
