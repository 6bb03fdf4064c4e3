//! Attributes by name and Rust type.

use core::str;

use num_complex::Complex;

use crate::attr::{AnyAttr, AttrType, Attrs};
use crate::dtype::{DataType, Pred, Scalar};
use crate::error::{Error, Operand, OperandKind, Result};

/// A Rust type that an attribute can be read as: each [`Scalar`], `bool`, `&[T]`, `&str`,
/// [`Attrs`], [`AnyAttr`].
pub trait AttrValue<'f>: Sized {
    /// What the attribute must hold.
    const TYPE: AttrType;

    /// The value, or `None` if the attribute holds something else.
    fn read(attr: AnyAttr<'f>) -> Option<Self>;
}

macro_rules! scalar_values {
    ($($ty:ty),* $(,)?) => {$(
        impl<'f> AttrValue<'f> for $ty {
            const TYPE: AttrType = AttrType::Scalar(<$ty as Scalar>::DTYPE);

            fn read(attr: AnyAttr<'f>) -> Option<Self> {
                attr.scalar()
            }
        }
    )*};
}

scalar_values!(Pred, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
scalar_values!(half::f16, half::bf16, Complex<f32>, Complex<f64>);

impl<'f> AttrValue<'f> for bool {
    const TYPE: AttrType = AttrType::Scalar(DataType::PRED);

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.scalar::<Pred>().map(Pred::get)
    }
}

impl<'f, T: Scalar> AttrValue<'f> for &'f [T] {
    const TYPE: AttrType = AttrType::Array(T::DTYPE);

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.array()
    }
}

/// UTF-8 text; see [`AnyAttr::bytes`] for other bytes.
impl<'f> AttrValue<'f> for &'f str {
    const TYPE: AttrType = AttrType::String;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        str::from_utf8(attr.bytes()?).ok()
    }
}

impl<'f> AttrValue<'f> for Attrs<'f> {
    const TYPE: AttrType = AttrType::Dictionary;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        attr.dictionary()
    }
}

impl<'f> AttrValue<'f> for AnyAttr<'f> {
    const TYPE: AttrType = AttrType::Any;

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        Some(attr)
    }
}

impl<'f> Attrs<'f> {
    /// The attribute of that name.
    ///
    /// # Errors
    /// ``attribute `n` must be a scalar i64, got a scalar f32``, or `…, got none`.
    pub fn get<V: AttrValue<'f>>(&self, name: &'static str) -> Result<V> {
        match self.get_optional(name)? {
            Some(value) => Ok(value),
            None => Err(Error::mismatch(
                attribute(name),
                format_args!("be {}", V::TYPE),
                "none",
            )),
        }
    }

    /// The attribute of that name, `None` where there is none.
    ///
    /// # Errors
    /// It holds something else: ``attribute `n` must be a scalar i64, got a scalar f32``.
    pub fn get_optional<V: AttrValue<'f>>(&self, name: &'static str) -> Result<Option<V>> {
        let Some(attr) = self.find(name) else {
            return Ok(None);
        };
        match V::read(attr) {
            Some(value) => Ok(Some(value)),
            None => Err(unreadable::<V>(name, attr)),
        }
    }

    /// The attribute of that name, `default` where there is none.
    ///
    /// # Errors
    /// As [`get_optional`](Self::get_optional).
    pub fn get_or<V: AttrValue<'f>>(&self, name: &'static str, default: V) -> Result<V> {
        Ok(self.get_optional(name)?.unwrap_or(default))
    }
}

fn attribute(name: &'static str) -> Operand {
    Operand::new(OperandKind::Attribute, name)
}

#[cold]
fn unreadable<'f, V: AttrValue<'f>>(name: &'static str, attr: AnyAttr<'f>) -> Error {
    let expected = format_args!("be {}", V::TYPE).to_string();
    if attr.type_() != V::TYPE {
        return Error::mismatch(attribute(name), expected, attr.type_());
    }
    let got = match attr.type_() {
        AttrType::String => "bytes that are not UTF-8",
        _ => "one without readable memory",
    };
    Error::mismatch(attribute(name), expected, got)
}
