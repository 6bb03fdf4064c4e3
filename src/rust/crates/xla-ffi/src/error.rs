//! The error of this crate: XLA's code, the op, the operand, what was expected and what came.

use core::fmt;
use std::borrow::Cow;

use crate::sys;

/// The result of everything here that can fail.
pub type Result<T, E = Error> = core::result::Result<T, E>;

macro_rules! codes {
    ($($(#[$meta:meta])* $id:ident = $raw:ident, $name:literal;)*) => {
        /// XLA's error codes (those of absl).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        #[non_exhaustive]
        pub enum Code { $($(#[$meta])* $id = sys::$raw,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$id),*];

            /// XLA's spelling: `"INVALID_ARGUMENT"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Code::$id => $name,)* }
            }

            /// The code with XLA's number, [`Code::Unknown`] for a number that is none (0, "ok",
            /// among them).
            #[must_use]
            pub const fn from_raw(raw: i32) -> Code {
                match raw { $(sys::$raw => Code::$id,)* _ => Code::Unknown }
            }
        }
    };
}

codes! {
    /// The caller gave up.
    Cancelled = XLA_FFI_Error_Code_CANCELLED, "CANCELLED";
    /// No better code is known.
    Unknown = XLA_FFI_Error_Code_UNKNOWN, "UNKNOWN";
    /// What the program passed is wrong.
    InvalidArgument = XLA_FFI_Error_Code_INVALID_ARGUMENT, "INVALID_ARGUMENT";
    /// Too late.
    DeadlineExceeded = XLA_FFI_Error_Code_DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED";
    /// No such thing.
    NotFound = XLA_FFI_Error_Code_NOT_FOUND, "NOT_FOUND";
    /// It is there already.
    AlreadyExists = XLA_FFI_Error_Code_ALREADY_EXISTS, "ALREADY_EXISTS";
    /// Not allowed.
    PermissionDenied = XLA_FFI_Error_Code_PERMISSION_DENIED, "PERMISSION_DENIED";
    /// Out of memory, slots or the like.
    ResourceExhausted = XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED";
    /// Not in this state.
    FailedPrecondition = XLA_FFI_Error_Code_FAILED_PRECONDITION, "FAILED_PRECONDITION";
    /// Stopped half-way.
    Aborted = XLA_FFI_Error_Code_ABORTED, "ABORTED";
    /// Past the end.
    OutOfRange = XLA_FFI_Error_Code_OUT_OF_RANGE, "OUT_OF_RANGE";
    /// Not offered here.
    Unimplemented = XLA_FFI_Error_Code_UNIMPLEMENTED, "UNIMPLEMENTED";
    /// A fault of the handler's own.
    Internal = XLA_FFI_Error_Code_INTERNAL, "INTERNAL";
    /// Not now.
    Unavailable = XLA_FFI_Error_Code_UNAVAILABLE, "UNAVAILABLE";
    /// Data were lost.
    DataLoss = XLA_FFI_Error_Code_DATA_LOSS, "DATA_LOSS";
    /// Who is asking?
    Unauthenticated = XLA_FFI_Error_Code_UNAUTHENTICATED, "UNAUTHENTICATED";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operand is to its op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperandKind {
    /// An argument.
    Argument,
    /// A result.
    Result,
    /// An attribute.
    Attribute,
    /// Scratch memory.
    Scratch,
}

/// An operand by name; one of a field of remaining operands has an index besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Operand {
    /// What it is to the op.
    pub kind: OperandKind,
    /// Field name.
    pub name: &'static str,
    /// Position within a field of remaining operands.
    pub index: Option<u32>,
}

impl Operand {
    /// The operand of that kind and name.
    #[must_use]
    pub const fn new(kind: OperandKind, name: &'static str) -> Self {
        Operand {
            kind,
            name,
            index: None,
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            OperandKind::Argument => "argument",
            OperandKind::Result => "result",
            OperandKind::Attribute => "attribute",
            OperandKind::Scratch => "scratch memory",
        })?;
        match self.index {
            None => write!(f, " `{}`", self.name),
            Some(index) => write!(f, " `{}[{index}]`", self.name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: Code,
    op: Option<Cow<'static, str>>,
    operand: Option<Operand>,
    message: Cow<'static, str>,
    expected: Option<String>,
    got: Option<String>,
}

/// What went wrong, kept in parts; [`Display`](fmt::Display) puts them into the one line that XLA
/// gets: ``lu: argument `a` must be f32 or f64, got i32``.
// One pointer wide, so that `Result<()>` stays in a register on the way of every call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

impl Error {
    /// An error with a message of its own.
    #[cold]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner {
            code,
            op: None,
            operand: None,
            message: message.into(),
            expected: None,
            got: None,
        }))
    }

    /// [`Code::InvalidArgument`].
    #[cold]
    pub fn invalid_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::InvalidArgument, message)
    }

    /// [`Code::Internal`].
    #[cold]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::Internal, message)
    }

    /// [`Code::InvalidArgument`]: `operand` must be (or have) `expected`, but `got` came.
    /// `expected` starts with its verb: ``argument `a` must`` + `be f32`.
    #[cold]
    pub fn mismatch(operand: Operand, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        let mut error = Error::new(Code::InvalidArgument, "");
        error.0.operand = Some(operand);
        error.0.expected = Some(expected.to_string());
        error.0.got = Some(got.to_string());
        error
    }

    /// Sets the code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Names the operand at fault.
    #[must_use]
    pub fn with_operand(mut self, operand: Operand) -> Self {
        self.0.operand = Some(operand);
        self
    }

    /// Names the op, unless it is named already.
    #[must_use]
    pub fn with_op(mut self, op: impl Into<Cow<'static, str>>) -> Self {
        self.0.op.get_or_insert_with(|| op.into());
        self
    }

    /// XLA's code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The op's target name, once the error has left the op.
    #[must_use]
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The operand at fault.
    #[must_use]
    pub fn operand(&self) -> Option<Operand> {
        self.0.operand
    }

    /// What the operand must be.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// What it was.
    #[must_use]
    pub fn got(&self) -> Option<&str> {
        self.0.got.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(op) = &inner.op {
            write!(f, "{op}: ")?;
        }
        if let Some(operand) = inner.operand {
            write!(f, "{operand} ")?;
        }
        match (&inner.expected, &inner.got) {
            (Some(expected), Some(got)) => write!(f, "must {expected}, got {got}"),
            _ => f.write_str(&inner.message),
        }
    }
}

impl std::error::Error for Error {}
