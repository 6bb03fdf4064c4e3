//! Errors: a code of XLA's, what kind of failure it was, and a message.

use std::fmt;

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// One of XLA's status codes. Unknown numbers can be held too: plugins may be newer than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code(pub u32);

macro_rules! codes {
    ($($name:ident = $value:literal),* $(,)?) => {
        #[allow(missing_docs, reason = "the names are XLA's and say it")]
        impl Code {
            $(pub const $name: Self = Self($value);)*

            /// XLA's name of the code, e.g. `"INVALID_ARGUMENT"`; `"UNKNOWN"` for others.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($value => stringify!($name),)*
                    _ => "UNKNOWN",
                }
            }
        }
    };
}

codes! {
    OK = 0, CANCELLED = 1, UNKNOWN = 2, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4,
    NOT_FOUND = 5, ALREADY_EXISTS = 6, PERMISSION_DENIED = 7, RESOURCE_EXHAUSTED = 8,
    FAILED_PRECONDITION = 9, ABORTED = 10, OUT_OF_RANGE = 11, UNIMPLEMENTED = 12,
    INTERNAL = 13, UNAVAILABLE = 14, DATA_LOSS = 15, UNAUTHENTICATED = 16,
}

/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The plugin's file does not exist.
    MissingFile,
    /// The plugin's file could not be loaded as a shared library.
    NotALibrary,
    /// The library has no `GetPjrtApi`, or that answers nothing usable.
    NotAPlugin,
    /// The plugin speaks another major version of the API.
    IncompatibleVersion,
    /// The plugin does not have the function that is needed.
    MissingFunction,
    /// The buffer was deleted or donated.
    Deleted,
    /// An argument to this crate was wrong.
    Argument,
    /// A file cannot be read.
    File,
    /// Not enough memory on the host.
    Memory,
    /// XLA was used before this process was forked.
    Forked,
    /// The plugin returned the error.
    Plugin,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    code: Code,
    message: String,
    call: Option<&'static str>,
}

impl Error {
    pub(crate) fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into(),
            call: None,
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(Kind::Argument, Code::INVALID_ARGUMENT, message)
    }

    pub(crate) fn forked() -> Self {
        Self::new(Kind::Forked, Code::FAILED_PRECONDITION, fork::MESSAGE)
    }

    /// An error in a forked child, for what waits for locks of the parent's threads before it
    /// calls the plugin.
    pub(crate) fn if_forked() -> Result<()> {
        match fork::is_child() {
            true => Err(Self::forked()),
            false => Ok(()),
        }
    }

    pub(crate) fn from_plugin(call: &'static str, code: Code, message: String) -> Self {
        Self {
            call: Some(call),
            ..Self::new(Kind::Plugin, code, message)
        }
    }

    pub(crate) fn missing_function(call: &'static str) -> Self {
        Self {
            call: Some(call),
            ..Self::new(
                Kind::MissingFunction,
                Code::UNIMPLEMENTED,
                format!("the plugin does not implement {call}"),
            )
        }
    }

    /// XLA's status code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Where the error comes from.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The message without code and call.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The C function that returned the error, if it came from one.
    pub fn call(&self) -> Option<&'static str> {
        self.call
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.call) {
            (Kind::Plugin, Some(call)) => {
                write!(f, "{}: {} ({call})", self.code.name(), self.message)
            }
            _ => write!(f, "{}: {}", self.code.name(), self.message),
        }
    }
}

impl std::error::Error for Error {}
