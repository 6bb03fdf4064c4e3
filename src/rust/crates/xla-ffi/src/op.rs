//! Ops: their name and element types, their bodies, and the one place where the element type is looked at.

use core::fmt;
use core::ops::Deref;

use crate::context::Context;
use crate::dtype::Generic;
use crate::error::{Code, Error, Operand, OperandKind, Result};
use crate::frame::CallFrame;
use crate::io::{FieldInfo, FieldKind, Io};
use crate::{sys, DataType};

/// Where handlers run: one type per platform, made anew for every call (a CUDA platform picks up stream and solver
/// handles here). What ops need of it are traits of their own: `trait Solver<T>: Platform`.
///
/// # Safety
/// [`HOST_MEMORY`](Platform::HOST_MEMORY) is true only if a handler can read and write the operands' memory.
pub unsafe trait Platform: Sized {
    /// XLA's canonical name: `"host"`, `"cuda"`.
    const NAME: &'static str;

    /// Whether operands lie in memory that the handler's processor can read and write.
    const HOST_MEMORY: bool;

    /// Makes what a call needs.
    ///
    /// # Errors
    /// The platform lacks something (a library, a stream).
    fn new(context: &Context<'_>) -> Result<Self>;
}

/// The CPU.
#[derive(Clone, Copy, Debug)]
pub struct Host;

// SAFETY: XLA CPU's operands lie in ordinary memory.
unsafe impl Platform for Host {
    const NAME: &'static str = "host";
    const HOST_MEMORY: bool = true;

    #[inline]
    fn new(_context: &Context<'_>) -> Result<Self> {
        Ok(Host)
    }
}

/// What a body gets besides its operands: the platform, and (by deref) XLA's [`Context`].
#[derive(Debug)]
pub struct Cx<'f, P> {
    context: Context<'f>,
    platform: P,
}

impl<P> Cx<'_, P> {
    /// The platform.
    pub fn platform(&self) -> &P {
        &self.platform
    }
}

impl<'f, P> Deref for Cx<'f, P> {
    type Target = Context<'f>;

    fn deref(&self) -> &Context<'f> {
        &self.context
    }
}

/// An op's name and element types; its body is a [`Kernel`].
pub trait Op: 'static {
    /// The target of the custom call: `"lu"`.
    const TARGET: &'static str;

    /// The element types that its body is run for: [`Floats`], [`RealAndComplex`], … or [`Untyped`].
    type Dtypes: DtypeSet;

    /// Traits that XLA is told, such as `sys::XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE`.
    const TRAITS: sys::XLA_FFI_Handler_Traits = 0;
}

/// The body of an op on platform `P` for element type `T` (`()` for an [`Untyped`] op).
///
/// Bounds that the body needs go on the impl, usually on the platform: `impl<T: Scalar, P: Solver<T>> Kernel<P, T> for Lu`.
/// [`handler`](crate::handler) then asks for them, for each element type of the op.
pub trait Kernel<P: Platform, T = ()>: Op {
    /// The operands, declared by [`io!`](crate::io).
    type Io<'f>: Io<'f>;

    /// Computes the results.
    ///
    /// # Errors
    /// Whatever XLA shall hear; the op's name is added on the way.
    fn run(io: Self::Io<'_>, cx: &Cx<'_, P>) -> Result<()>;
}

/// A set of element types.
pub trait DtypeSet: 'static {
    /// The element types; empty for [`Untyped`].
    const DTYPES: &'static [DataType];
}

/// A set of element types for which `O` has a [`Kernel`] on `P`. Made by [`dtype_set!`](crate::dtype_set).
pub trait Dispatch<O: Op, P: Platform>: DtypeSet {
    /// The operands, the element type left open.
    const SIGNATURE: &'static [FieldInfo];

    /// Looks at the element type, decodes the operands and runs the body.
    ///
    /// # Errors
    /// Operands that do not fit, or the body's error.
    fn dispatch(frame: &mut CallFrame<'_>) -> Result<()>;
}

/// What is known of an op without running it.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The target of the custom call.
    pub target: &'static str,
    /// The platform, by XLA's name.
    pub platform: &'static str,
    /// The element types that it is generic over; empty for an [`Untyped`] one.
    pub dtypes: &'static [DataType],
    /// Its operands and attributes.
    pub fields: &'static [FieldInfo],
}

/// Describes op `O` on platform `P`.
#[must_use]
pub fn describe<O, P>() -> OpInfo
where
    O: Op,
    P: Platform,
    O::Dtypes: Dispatch<O, P>,
{
    OpInfo {
        target: O::TARGET,
        platform: P::NAME,
        dtypes: <O::Dtypes as DtypeSet>::DTYPES,
        fields: <O::Dtypes as Dispatch<O, P>>::SIGNATURE,
    }
}

/// Decodes the operands and runs the body for element type `T`.
#[doc(hidden)]
#[inline]
pub fn run_kernel<O: Kernel<P, T>, P: Platform, T>(frame: &mut CallFrame<'_>) -> Result<()> {
    let cx = Cx {
        context: frame.context(),
        platform: P::new(&frame.context())?,
    };
    O::run(<O::Io<'_> as Io<'_>>::decode(frame)?, &cx)
}

/// The element type that decides, after the number of operands was checked.
#[doc(hidden)]
#[inline]
pub fn deciding_dtype(
    frame: &CallFrame<'_>,
    layout: &Layout,
    fields: &'static [FieldInfo],
) -> Result<DataType> {
    layout.check_counts(frame, fields)?;
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

/// How many operands the fields take, and where the element type is found; computed at compile time.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    args: usize,
    more_args: bool,
    rets: usize,
    more_rets: bool,
    deciding: Option<(OperandKind, usize)>,
}

impl Layout {
    /// Stops the compilation of an operand struct with fields after the one that takes all that is left.
    #[must_use]
    pub const fn of(fields: &[FieldInfo]) -> Layout {
        let mut layout = Layout {
            args: 0,
            more_args: false,
            rets: 0,
            more_rets: false,
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
                FieldKind::Attribute { .. } | FieldKind::Attributes => {}
            }
            i += 1;
        }
        layout
    }

    /// Checks the number of arguments and results.
    #[inline]
    pub fn check_counts(&self, frame: &CallFrame<'_>, fields: &'static [FieldInfo]) -> Result<()> {
        let fits = |got: usize, want: usize, more: bool| got == want || (more && got > want);
        if fits(frame.arg_count(), self.args, self.more_args)
            && fits(frame.ret_count(), self.rets, self.more_rets)
        {
            return Ok(());
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

/// Element types of no interest: the op's operands are [`AnyBuffer`](crate::AnyBuffer)s or of fixed types.
#[derive(Debug)]
pub enum Untyped {}

impl DtypeSet for Untyped {
    const DTYPES: &'static [DataType] = &[];
}

impl<O: Kernel<P>, P: Platform> Dispatch<O, P> for Untyped {
    const SIGNATURE: &'static [FieldInfo] = <O::Io<'static> as Io<'static>>::SIGNATURE;

    #[inline]
    fn dispatch(frame: &mut CallFrame<'_>) -> Result<()> {
        let fields = <Self as Dispatch<O, P>>::SIGNATURE;
        const { Layout::of(<Self as Dispatch<O, P>>::SIGNATURE) }.check_counts(frame, fields)?;
        run_kernel::<O, P, ()>(frame)
    }
}

/// Declares a set of element types that ops can be generic over: `dtype_set! { pub Floats = f32, f64; }`.
#[macro_export]
macro_rules! dtype_set {
    ($($(#[$meta:meta])* $vis:vis $name:ident = $first:ty $(, $more:ty)* $(,)?;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::DtypeSet for $name {
            const DTYPES: &'static [$crate::DataType] = &[
                <$first as $crate::Scalar>::DTYPE,
                $(<$more as $crate::Scalar>::DTYPE,)*
            ];
        }

        impl<O, P> $crate::Dispatch<O, P> for $name
        where
            P: $crate::Platform,
            O: $crate::Kernel<P, $first> $(+ $crate::Kernel<P, $more>)*,
        {
            const SIGNATURE: &'static [$crate::FieldInfo] =
                <<O as $crate::Kernel<P, $first>>::Io<'static> as $crate::Io<'static>>::SIGNATURE;

            #[inline]
            fn dispatch(frame: &mut $crate::CallFrame<'_>) -> $crate::Result<()> {
                use $crate::__private as private;
                let fields = <Self as $crate::Dispatch<O, P>>::SIGNATURE;
                let layout = const { private::Layout::of(<Self as $crate::Dispatch<O, P>>::SIGNATURE) };
                match private::deciding_dtype(frame, &layout, fields)? {
                    <$first as $crate::Scalar>::DTYPE => private::run_kernel::<O, P, $first>(frame),
                    $(<$more as $crate::Scalar>::DTYPE => private::run_kernel::<O, P, $more>(frame),)*
                    got => {
                        Err(private::no_kernel(fields, <Self as $crate::DtypeSet>::DTYPES, got))
                    }
                }
            }
        }
    )*};
}

use num_complex::Complex;

dtype_set! {
    /// f32, f64.
    pub Floats = f32, f64;
    /// f16, bf16, f32, f64.
    pub AnyFloats = half::f16, half::bf16, f32, f64;
    /// f32, f64, c64, c128.
    pub RealAndComplex = f32, f64, Complex<f32>, Complex<f64>;
    /// i8, i16, i32, i64, ui8, ui16, ui32, ui64.
    pub Integers = i8, i16, i32, i64, u8, u16, u32, u64;
    /// Every [`Scalar`](crate::Scalar).
    pub AllDtypes = crate::Pred, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
        Complex<f32>, Complex<f64>;
}

const _: () = assert!(<Generic as crate::Scalar>::DTYPE.size().is_none());
