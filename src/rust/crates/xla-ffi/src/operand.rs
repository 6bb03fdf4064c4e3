//! Buffers with a Rust element type and a checked rank.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::buffer::{AnyBuffer, AnyBufferMut};
use crate::dims::{AnyRank, RankCheck};
use crate::dtype::Scalar;
use crate::error::{Operand, OperandKind, Result};
use crate::frame::CallFrame;
use crate::view::Want;

macro_rules! typed {
    ($($(#[$meta:meta])* $name:ident of $buffer:ident as $kind:ident by $next:ident;)*) => {$(
        $(#[$meta])*
        pub struct $name<'f, T, R = AnyRank> {
            buffer: $buffer<'f>,
            _type: PhantomData<(T, R)>,
        }

        impl<T, R> fmt::Debug for $name<'_, T, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.buffer.fmt(f)
            }
        }

        impl<'f, T: Scalar, R: RankCheck> $name<'f, T, R> {
            /// Takes the next one out of the frame.
            #[inline(always)]
            pub(crate) fn take(frame: &mut CallFrame<'f>, name: &'static str) -> Result<Self> {
                let want = const {
                    &Want {
                        dtype: Some(T::DTYPE),
                        rank: R::SPEC,
                    }
                };
                Ok($name {
                    buffer: frame.$next(Operand::new(OperandKind::$kind, name), want)?,
                    _type: PhantomData,
                })
            }

            /// Checks element type and rank.
            ///
            /// # Errors
            /// ``argument `a` must be f32, got i32``, ``argument `a` must have rank 2, got rank 3``.
            #[inline]
            pub fn new(buffer: $buffer<'f>) -> Result<Self> {
                buffer.expect_dtype(T::DTYPE)?;
                R::SPEC.check(buffer.operand(), buffer.dims())?;
                Ok($name {
                    buffer,
                    _type: PhantomData,
                })
            }
        }

        impl<'f, T, R> Deref for $name<'f, T, R> {
            type Target = $buffer<'f>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.buffer
            }
        }
    )*};
}

typed! {
    /// An argument with elements of type `T` and rank `R` (any, unless said).
    Arg of AnyBuffer as Argument by next_arg_as;
    /// A result with elements of type `T` and rank `R` (any, unless said).
    Ret of AnyBufferMut as Result by next_ret_as;
}

impl<T, R> Clone for Arg<'_, T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, R> Copy for Arg<'_, T, R> {}

impl<'f, T: Scalar, R: RankCheck> Arg<'f, T, R> {
    /// The elements, in the order in which they lie in memory.
    ///
    /// # Errors
    /// The memory is a device's; XLA gave it to a result as well (see [`Ret::copy_from`]).
    #[inline]
    pub fn as_slice(&self) -> Result<&'f [T]> {
        self.buffer.as_slice()
    }
}

impl<'f, T: Scalar, R: RankCheck> Ret<'f, T, R> {
    /// The elements, in the order in which they lie in memory. Until written they hold anything.
    ///
    /// # Errors
    /// The memory is a device's.
    #[inline]
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.buffer.as_mut_slice()
    }

    /// As [`as_mut_slice`](Self::as_mut_slice), for as long as the call lasts.
    ///
    /// # Errors
    /// As [`as_mut_slice`](Self::as_mut_slice).
    #[inline]
    pub fn into_mut_slice(self) -> Result<&'f mut [T]> {
        self.buffer.into_mut_slice()
    }

    /// Copies the argument here; does nothing where XLA gave both the same memory, on any device.
    /// An op that works in place starts with this.
    ///
    /// # Errors
    /// The shapes differ; the memory is a device's.
    #[inline]
    pub fn copy_from<Q>(&mut self, from: &Arg<'_, T, Q>) -> Result<()> {
        self.buffer.copy_from(&from.buffer)
    }

    /// Sets every element to `f` of the elements of `args` at the same place; right also where XLA
    /// gave an argument this result's memory.
    ///
    /// # Errors
    /// The shapes differ; the memory is a device's; XLA gave an argument another result's memory.
    #[inline]
    pub fn map_from<Q, const N: usize>(
        &mut self,
        args: [&Arg<'_, T, Q>; N],
        f: impl FnMut([T; N]) -> T,
    ) -> Result<()> {
        self.buffer.map_from(args.map(|arg| &arg.buffer), f)
    }
}

impl<T, R> DerefMut for Ret<'_, T, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.buffer
    }
}
