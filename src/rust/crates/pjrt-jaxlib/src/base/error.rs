//! Errors: a code of the PJRT C API and a message.

use pjrt_api::{
    PJRT_Error, PJRT_Error_Code, PJRT_Error_Destroy_Args, PJRT_Error_GetCode_Args,
    PJRT_Error_Message_Args,
};
use std::sync::OnceLock;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The API's code.
    pub code: PJRT_Error_Code,
    /// One sentence.
    pub message: String,
    /// Whether the message is this crate's: then the function's name is put before it.
    pub own: bool,
}

/// Says more of some errors of XLA than their text does.
static EXPLAIN: OnceLock<fn(&str) -> Option<Error>> = OnceLock::new();

/// Has errors of XLA explained by a function that knows more of them, where it gives an error.
pub(crate) fn explain_by(explain: fn(&str) -> Option<Error>) {
    let _ = EXPLAIN.set(explain);
}

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $code:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(message: impl Into<String>) -> Self {
            Self { code: PJRT_Error_Code::$code, message: message.into(), own: true }
        }
    )*};
}

impl Error {
    constructors! {
        invalid = INVALID_ARGUMENT;
        precondition = FAILED_PRECONDITION;
        not_found = NOT_FOUND;
        exists = ALREADY_EXISTS;
        exhausted = RESOURCE_EXHAUSTED;
        unimplemented = UNIMPLEMENTED;
        internal = INTERNAL;
        unavailable = UNAVAILABLE;
        deadline = DEADLINE_EXCEEDED;
    }

    /// An error of XLA, whose messages start with the code's name: "INVALID_ARGUMENT: text".
    /// Messages without one get `otherwise`.
    pub fn from_xla(text: &str, otherwise: PJRT_Error_Code) -> Self {
        // Newer versions append where in XLA's source the error arose.
        let text = text
            .split("=== Source Location Trace")
            .next()
            .unwrap_or(text)
            .trim_end();
        if let Some(error) = EXPLAIN.get().and_then(|explain| explain(text)) {
            return error;
        }
        if let Some((name, rest)) = text.split_once(": ") {
            if let Some((_, code)) = PJRT_Error_Code::ALL.iter().find(|(n, _)| *n == name) {
                return Self {
                    code: PJRT_Error_Code(*code),
                    message: rest.to_owned(),
                    own: false,
                };
            }
        }
        Self {
            code: otherwise,
            message: text.to_owned(),
            own: false,
        }
    }

    /// The code's name, such as `INVALID_ARGUMENT`.
    pub fn code_name(&self) -> &'static str {
        let mut names = PJRT_Error_Code::ALL.iter();
        names
            .find(|(_, code)| *code == self.code.0)
            .map_or("UNKNOWN", |(name, _)| name)
    }

    /// Hands the error over to C.
    pub fn into_raw(self) -> *mut PJRT_Error {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// Frees an error; NULL is nothing to free.
pub(crate) unsafe extern "C" fn destroy(args: *mut PJRT_Error_Destroy_Args) {
    // SAFETY: by the API's contract `args` is NULL or valid.
    if let Some(args) = unsafe { args.as_ref() } {
        if !args.error.is_null() {
            // SAFETY: every error handed out is a boxed `Error`, and it is freed once.
            drop(unsafe { Box::from_raw(args.error.cast::<Error>()) });
        }
    }
}

/// The message, valid for as long as the error.
pub(crate) unsafe extern "C" fn message(args: *mut PJRT_Error_Message_Args) {
    // SAFETY: by the API's contract `args` is NULL or valid, and so is the error.
    unsafe {
        if let Some(args) = args.as_mut() {
            let text = args
                .error
                .cast::<Error>()
                .as_ref()
                .map_or("", |e| e.message.as_str());
            args.message = text.as_ptr().cast();
            args.message_size = text.len();
        }
    }
}

/// The code.
pub(crate) unsafe extern "C" fn get_code(args: *mut PJRT_Error_GetCode_Args) -> *mut PJRT_Error {
    // SAFETY: as in `message`.
    unsafe {
        if let Some(args) = args.as_mut() {
            args.code = args
                .error
                .cast::<Error>()
                .as_ref()
                .map_or(PJRT_Error_Code::OK, |e| e.code);
        }
    }
    std::ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xla_text_becomes_code_and_message() {
        let e = Error::from_xla("NOT_FOUND: no handler", PJRT_Error_Code::UNKNOWN);
        assert_eq!(
            (e.code, e.message.as_str()),
            (PJRT_Error_Code::NOT_FOUND, "no handler")
        );
        let e = Error::from_xla(
            "INTERNAL: bad\n=== Source Location Trace: === \nx.h:3\n",
            PJRT_Error_Code::UNKNOWN,
        );
        assert_eq!(
            (e.code, e.message.as_str()),
            (PJRT_Error_Code::INTERNAL, "bad")
        );
        let e = Error::from_xla("Strange: thing", PJRT_Error_Code::INVALID_ARGUMENT);
        assert_eq!(e.code, PJRT_Error_Code::INVALID_ARGUMENT);
        assert_eq!(e.message, "Strange: thing");
    }
}
