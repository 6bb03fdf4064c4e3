//! Arrays that a signature does not take.

use core::fmt;

/// What does not fit, XLA's `INVALID_ARGUMENT`. The text names the operand, what was expected and
/// what came; the op's name is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// The operand, result or attribute at fault, where it is one.
    pub operand: Option<String>,
    /// One sentence.
    pub message: String,
}

impl BindError {
    pub(crate) fn new(operand: Option<&str>, message: impl Into<String>) -> Self {
        BindError {
            operand: operand.map(str::to_string),
            message: message.into(),
        }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BindError {}

impl From<BindError> for xla_ffi::Error {
    fn from(error: BindError) -> Self {
        xla_ffi::Error::invalid_argument(error.message)
    }
}
