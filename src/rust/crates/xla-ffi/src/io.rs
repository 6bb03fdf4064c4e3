//! The operands of an op as a struct: what its fields can be.

use core::ops::Deref;

use crate::attr::{AttrType, Attrs};
use crate::attrs::AttrValue;
use crate::buffer::{AnyBuffer, AnyBufferMut};
use crate::dims::{RankCheck, RankSpec};
use crate::dtype::Generic;
use crate::error::Result;
use crate::frame::CallFrame;
use crate::operand::{Arg, Ret};
use crate::pending::Pending;
use crate::{DataType, Scalar};

/// The element type that a field asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldDtype {
    /// Any.
    Any,
    /// The one that the op is generic over: one of [`Op::Dtypes`](crate::Op::Dtypes).
    Generic,
    /// That one.
    Fixed(DataType),
}

impl FieldDtype {
    const fn of<T: Scalar>() -> Self {
        if T::DTYPE.0 == Generic::DTYPE.0 {
            FieldDtype::Generic
        } else {
            FieldDtype::Fixed(T::DTYPE)
        }
    }
}

/// What a field takes from the call frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// The next argument.
    Argument {
        /// Its element type.
        dtype: FieldDtype,
        /// Its rank.
        rank: RankSpec,
    },
    /// All arguments that are left.
    RemainingArguments,
    /// The next result.
    Result {
        /// Its element type.
        dtype: FieldDtype,
        /// Its rank.
        rank: RankSpec,
    },
    /// All results that are left.
    RemainingResults,
    /// The attribute named like the field.
    Attribute {
        /// What it holds.
        type_: AttrType,
        /// Whether the call must have it.
        required: bool,
    },
    /// All attributes.
    Attributes,
    /// Nothing; the call may be completed after the handler has returned.
    Completion,
}

impl FieldKind {
    const fn attribute(type_: AttrType, required: bool) -> Self {
        FieldKind::Attribute { type_, required }
    }
}

/// A field of an operand struct.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name, and that of the operand.
    pub name: &'static str,
    doc: &'static [&'static str],
    /// What it takes from the frame.
    pub kind: FieldKind,
    /// The attribute's default, as written.
    pub default: Option<&'static str>,
}

impl FieldInfo {
    /// What `io!` notes of a field.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        doc: &'static [&'static str],
        kind: FieldKind,
        default: Option<&'static str>,
    ) -> Self {
        FieldInfo {
            name,
            doc,
            kind,
            default,
        }
    }

    /// Its doc comment in one line.
    #[must_use]
    pub fn doc(&self) -> String {
        self.doc
            .iter()
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ")
            .trim()
            .to_owned()
    }

    /// Whether its element type is the one that the op is generic over.
    #[must_use]
    pub const fn is_generic(&self) -> bool {
        matches!(
            self.kind,
            FieldKind::Argument {
                dtype: FieldDtype::Generic,
                ..
            } | FieldKind::Result {
                dtype: FieldDtype::Generic,
                ..
            }
        )
    }
}

/// A type that a field of an operand struct can have.
pub trait Field<'f>: Sized {
    /// What it takes from the frame.
    const KIND: FieldKind;

    /// Takes it.
    ///
    /// # Errors
    /// What is there is not what the field asks for.
    fn decode(frame: &mut CallFrame<'f>, name: &'static str) -> Result<Self>;
}

/// Fields that take the next argument or result.
macro_rules! buffers {
    ($(
        [$($generics:tt)*] $type:ty: $kind:ident($dtype:expr, $rank:expr), |$frame:ident, $name:ident| $decode:expr;
    )*) => {$(
        impl<'f, $($generics)*> Field<'f> for $type {
            const KIND: FieldKind = FieldKind::$kind {
                dtype: $dtype,
                rank: $rank,
            };

            #[inline(always)]
            fn decode($frame: &mut CallFrame<'f>, $name: &'static str) -> Result<Self> {
                $decode
            }
        }
    )*};
}

buffers! {
    [T: Scalar, R: RankCheck] Arg<'f, T, R>: Argument(FieldDtype::of::<T>(), R::SPEC),
        |frame, name| Arg::take(frame, name);
    [T: Scalar, R: RankCheck] Ret<'f, T, R>: Result(FieldDtype::of::<T>(), R::SPEC),
        |frame, name| Ret::take(frame, name);
    [] AnyBuffer<'f>: Argument(FieldDtype::Any, RankSpec::Any), |frame, name| frame.next_arg(name, None);
    [] AnyBufferMut<'f>: Result(FieldDtype::Any, RankSpec::Any), |frame, name| frame.next_ret(name, None);
}

/// All attributes of the call, for an op that looks them up itself.
impl<'f> Field<'f> for Attrs<'f> {
    const KIND: FieldKind = FieldKind::Attributes;

    #[inline]
    fn decode(frame: &mut CallFrame<'f>, _name: &'static str) -> Result<Self> {
        Ok(frame.attrs())
    }
}

impl<'f> Field<'f> for Pending<'f> {
    const KIND: FieldKind = FieldKind::Completion;

    fn decode(frame: &mut CallFrame<'f>, _name: &'static str) -> Result<Self> {
        frame.pending()
    }
}

/// The attribute named like the field: `Attr<V>` must be there, unless the field has a default (`=
/// 30`), and `Attr<Option<V>>` may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Attr<V>(
    /// The value.
    pub V,
);

impl<V> Deref for Attr<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0
    }
}

impl<'f, V: AttrValue<'f>> Field<'f> for Attr<V> {
    const KIND: FieldKind = FieldKind::attribute(V::TYPE, true);

    #[inline(always)]
    fn decode(frame: &mut CallFrame<'f>, name: &'static str) -> Result<Self> {
        frame.attrs().get(name).map(Attr)
    }
}

impl<'f, V: AttrValue<'f>> Field<'f> for Attr<Option<V>> {
    const KIND: FieldKind = FieldKind::attribute(V::TYPE, false);

    #[inline(always)]
    fn decode(frame: &mut CallFrame<'f>, name: &'static str) -> Result<Self> {
        frame.attrs().get_optional(name).map(Attr)
    }
}

impl<'f, V: AttrValue<'f>> Attr<V> {
    /// The attribute of that name, `default` where there is none. (`io!` calls it.)
    ///
    /// # Errors
    /// It holds something else.
    #[inline]
    pub fn decode_or(frame: &mut CallFrame<'f>, name: &'static str, default: V) -> Result<Self> {
        frame.attrs().get_or(name, default).map(Attr)
    }
}

macro_rules! remaining {
    ($(#[$meta:meta])* $name:ident: $kind:ident, $item:ty, $split:ident, $next:ident, $left:ident) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<'f> {
            frame: CallFrame<'f>,
            name: &'static str,
            taken: u32,
        }

        impl<'f> Field<'f> for $name<'f> {
            const KIND: FieldKind = FieldKind::$kind;

            fn decode(frame: &mut CallFrame<'f>, name: &'static str) -> Result<Self> {
                Ok($name { frame: frame.$split(), name, taken: 0 })
            }
        }

        impl<'f> Iterator for $name<'f> {
            type Item = Result<$item>;

            fn next(&mut self) -> Option<Self::Item> {
                if self.frame.$left() == 0 {
                    return None;
                }
                let next = self.frame.$next(self.name, Some(self.taken));
                self.taken += 1;
                Some(next)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                let left = self.frame.$left();
                (left, Some(left))
            }
        }

        impl ExactSizeIterator for $name<'_> {}
    };
}

remaining! {
    /// The arguments that no field before takes, as an iterator. One that is not a buffer comes as
    /// an error.
    RemainingArgs: RemainingArguments, AnyBuffer<'f>, split_off_args, next_arg, args_left
}
remaining! {
    /// The results that no field before takes, as an iterator. One that is not a buffer comes as an
    /// error.
    RemainingRets: RemainingResults, AnyBufferMut<'f>, split_off_rets, next_ret, rets_left
}

/// An operand struct, made by [`io!`](crate::io).
pub trait Io<'f>: Sized {
    /// The fields, in order.
    const FIELDS: &'static [FieldInfo];

    /// The fields, in order, with the element type that the struct is generic over left open.
    const SIGNATURE: &'static [FieldInfo];

    /// Takes the operands out of the frame.
    ///
    /// # Errors
    /// An operand is not what its field asks for.
    fn decode(frame: &mut CallFrame<'f>) -> Result<Self>;
}
