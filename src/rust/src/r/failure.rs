//! Errors on their way to R: data, raised as a condition by `raise()` in `R/base-condition.R`.
//!
//! A failed call returns an R list of class `xlaffi_failure`.

use std::fmt::Display;

use extendr_ffi::SEXP;

use crate::r::value::{named, IntoSexp, Value};

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
}

impl IntoSexp for Failure {
    fn into_sexp(self) -> SEXP {
        let parts = named! {
            code = self.code,
            message = self.message,
            op = self.op,
            operand = self.operand,
            hint = self.hint,
        };
        Value::Classed("xlaffi_failure", Box::new(parts)).into_sexp()
    }
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
