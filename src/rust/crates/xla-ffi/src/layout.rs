//! How many operands a struct takes, and which of them decides the element type.

use core::fmt;

use crate::error::{Code, Error, Operand, OperandKind, Result};
use crate::frame::CallFrame;
use crate::io::{FieldInfo, FieldKind};
use crate::nearest::nearest;
use crate::DataType;

/// The element type that decides, after the number of operands was checked.
#[doc(hidden)]
#[inline]
pub fn deciding_dtype(
    frame: &CallFrame<'_>,
    layout: &Layout,
    fields: &'static [FieldInfo],
    ignored: &[&str],
) -> Result<DataType> {
    layout.check_counts(frame, fields, ignored)?;
    let dtype = match layout.deciding {
        Some((OperandKind::Argument, at)) => frame.arg_dtype(at),
        Some((_, at)) => frame.ret_dtype(at),
        None => Some(DataType::INVALID),
    };
    dtype.ok_or_else(|| {
        let name = fields
            .iter()
            .find(|field| field.is_generic())
            .map_or("", |field| field.name);
        frame.not_a_buffer(layout.deciding, name)
    })
}

/// The error of an op that has no body for that element type.
#[doc(hidden)]
#[cold]
pub fn no_kernel(fields: &'static [FieldInfo], dtypes: &[DataType], got: DataType) -> Error {
    let field = fields.iter().find(|field| field.is_generic());
    let kind = match field.map(|field| field.kind) {
        Some(FieldKind::Result { .. }) => OperandKind::Result,
        _ => OperandKind::Argument,
    };
    let name = field.map_or("", |field| field.name);
    Error::mismatch(
        Operand::new(kind, name),
        format_args!("be {}", OneOf(dtypes)),
        got,
    )
}

/// Prints `f32, f64 or c64`.
struct OneOf<'a>(&'a [DataType]);

impl fmt::Display for OneOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, dtype) in self.0.iter().enumerate() {
            let before = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{before}{dtype}")?;
        }
        Ok(())
    }
}

/// Not inlined: it is the same for every op.
#[inline(never)]
fn check_attrs(
    frame: &CallFrame<'_>,
    fields: &'static [FieldInfo],
    ignored: &[&str],
) -> Result<()> {
    let is_attr = |field: &&FieldInfo| matches!(field.kind, FieldKind::Attribute { .. });
    let known = || fields.iter().filter(is_attr).map(|field| field.name);
    for (name, _) in frame.attrs().iter() {
        let is_it = |known: &str| known.as_bytes() == name;
        if !known().any(is_it) && !ignored.iter().any(|name| is_it(name)) {
            return Err(unknown_attr(&String::from_utf8_lossy(name), known()));
        }
    }
    Ok(())
}

#[cold]
fn unknown_attr(name: &str, known: impl Iterator<Item = &'static str>) -> Error {
    let known: Vec<&str> = known.collect();
    let message = match nearest(name, &known) {
        Some(near) => format!("unknown attribute `{name}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("unknown attribute `{name}`; it has none"),
        None => format!(
            "unknown attribute `{name}`; it has `{}`",
            known.join("`, `")
        ),
    };
    Error::invalid_argument(message)
}

/// How many operands the fields take, and where the element type is found; computed at compile
/// time.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    args: usize,
    more_args: bool,
    rets: usize,
    more_rets: bool,
    required_attrs: usize,
    any_attrs: bool,
    deciding: Option<(OperandKind, usize)>,
}

impl Layout {
    /// Stops the compilation of an operand struct with fields after the one that takes all that is
    /// left.
    #[must_use]
    pub const fn of(fields: &[FieldInfo]) -> Layout {
        let mut layout = Layout {
            args: 0,
            more_args: false,
            rets: 0,
            more_rets: false,
            required_attrs: 0,
            any_attrs: false,
            deciding: None,
        };
        let mut i = 0;
        while i < fields.len() {
            let generic = fields[i].is_generic() && layout.deciding.is_none();
            match fields[i].kind {
                FieldKind::Argument { .. } => {
                    assert!(!layout.more_args, "no argument can follow `RemainingArgs`");
                    if generic {
                        layout.deciding = Some((OperandKind::Argument, layout.args));
                    }
                    layout.args += 1;
                }
                FieldKind::Result { .. } => {
                    assert!(!layout.more_rets, "no result can follow `RemainingRets`");
                    if generic {
                        layout.deciding = Some((OperandKind::Result, layout.rets));
                    }
                    layout.rets += 1;
                }
                FieldKind::RemainingArguments => layout.more_args = true,
                FieldKind::RemainingResults => layout.more_rets = true,
                FieldKind::Attribute { required, .. } => {
                    // One with a default is `required` by its type.
                    if required && fields[i].default.is_none() {
                        layout.required_attrs += 1;
                    }
                }
                FieldKind::Attributes => layout.any_attrs = true,
                FieldKind::Completion => {}
            }
            i += 1;
        }
        layout
    }

    /// Checks the number of arguments and results, and that no attribute is there that no field
    /// takes, but for those of `ignored`.
    #[inline]
    pub fn check_counts(
        &self,
        frame: &CallFrame<'_>,
        fields: &'static [FieldInfo],
        ignored: &[&str],
    ) -> Result<()> {
        let fits = |got: usize, want: usize, more: bool| got == want || (more && got > want);
        if fits(frame.arg_count(), self.args, self.more_args)
            && fits(frame.ret_count(), self.rets, self.more_rets)
        {
            // As many as are required are just those, or one of them is missing, which decoding
            // tells.
            if self.any_attrs || frame.attrs().len() == self.required_attrs {
                return Ok(());
            }
            return check_attrs(frame, fields, ignored);
        }
        Err(self.count_error(frame, fields))
    }

    #[cold]
    fn count_error(&self, frame: &CallFrame<'_>, fields: &'static [FieldInfo]) -> Error {
        let wrong_args =
            frame.arg_count() != self.args && !(self.more_args && frame.arg_count() > self.args);
        let (noun, want, more, got) = if wrong_args {
            ("argument", self.args, self.more_args, frame.arg_count())
        } else {
            ("result", self.rets, self.more_rets, frame.ret_count())
        };
        let names: Vec<String> = fields
            .iter()
            .filter(|field| match field.kind {
                FieldKind::Argument { .. } => wrong_args,
                FieldKind::Result { .. } => !wrong_args,
                _ => false,
            })
            .map(|field| format!("`{}`", field.name))
            .collect();
        let at_least = if more { "at least " } else { "" };
        let plural = if want == 1 { "" } else { "s" };
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(" ({})", names.join(", "))
        };
        let message = format!("expected {at_least}{want} {noun}{plural}{names}, got {got}");
        Error::new(Code::InvalidArgument, message)
    }
}
