//! Ops: their name and element types, and their bodies.

use core::ops::Deref;

use crate::context::Context;
use crate::error::Result;
use crate::frame::CallFrame;
use crate::io::{FieldInfo, Io};
use crate::{DataType, Traits};

/// Where handlers run: one type per platform, made anew for every call (a CUDA platform picks up
/// stream and solver handles here). What ops need of it are traits of their own: `trait Solver<T>:
/// Platform`.
///
/// # Safety
/// [`HOST_MEMORY`](Platform::HOST_MEMORY) is true only if a handler can read and write the
/// operands' memory.
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

    /// The element types that its body is run for: [`Floats`](crate::Floats),
    /// [`RealAndComplex`](crate::RealAndComplex), … or [`Untyped`](crate::Untyped).
    type Dtypes: DtypeSet;

    /// What XLA is told of the handler.
    const TRAITS: Traits = Traits::NONE;

    /// Attributes that a call may carry although no field takes them. Any other is an error, unless
    /// the operands have a field of type [`Attrs`](crate::Attrs).
    const IGNORED_ATTRS: &'static [&'static str] = &[];
}

/// The body of an op on platform `P` for element type `T` (`()` for an [`Untyped`](crate::Untyped)
/// op).
///
/// Bounds that the body needs go on the impl, usually on the platform: `impl<T: Scalar, P:
/// Solver<T>> Kernel<P, T> for Lu`. [`handler`](crate::handler) then asks for them, for each
/// element type of the op.
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
    /// The element types; empty for [`Untyped`](crate::Untyped).
    const DTYPES: &'static [DataType];
}

/// A set of element types for which `O` has a [`Kernel`] on `P`. Made by
/// [`dtype_set!`](crate::dtype_set).
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
#[non_exhaustive]
pub struct OpInfo {
    /// The target of the custom call.
    pub target: &'static str,
    /// The platform, by XLA's name.
    pub platform: &'static str,
    /// The element types that it is generic over; empty for an [`Untyped`](crate::Untyped) one.
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
