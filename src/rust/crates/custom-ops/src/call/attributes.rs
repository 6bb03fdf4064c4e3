//! The attributes of a call, laid out for a body.

use core::ffi::c_void;
use core::{ptr, slice};

use xla_ffi::half::{bf16, f16};
use xla_ffi::{AnyAttr, AttrType, Attrs, DataType, Error, Operand, OperandKind, Result};

use crate::body::abi;
use crate::names::interned;
use crate::signature::{Attribute, AttributeKind, AttributeValue};

/// The attribute that says which op of its name a call means: its digest, an i64.
pub const OP: &str = "xlaffi.op";

/// The attribute that says how many axes in front of every operand and result are those of a batch,
/// of one length or (operands) of length 1: an i64.
pub const BATCH: &str = "xlaffi.batch";

/// An attribute that is not there.
const NONE: abi::Attribute = abi::Attribute {
    data: ptr::null(),
    length: 0,
};

/// A default as a body gets it.
pub(crate) struct Stored {
    words: Box<[u64]>,
    length: usize,
}

impl Stored {
    pub(crate) fn default_of(attribute: &Attribute) -> Option<Stored> {
        let default = attribute.default.as_ref()?;
        let mut bytes = Vec::new();
        let length = match (default, &attribute.kind) {
            (AttributeValue::Array(values), AttributeKind::Array(dtype, _)) => {
                values
                    .iter()
                    .for_each(|value| push(&mut bytes, value, *dtype));
                values.len()
            }
            (AttributeValue::Text(text), _) => {
                bytes.extend_from_slice(text.as_bytes());
                text.len()
            }
            (value, AttributeKind::Scalar(dtype)) => {
                push(&mut bytes, value, *dtype);
                1
            }
            _ => 0,
        };
        let words = words(&bytes).into_boxed_slice();
        Some(Stored { words, length })
    }

    fn raw(&self) -> abi::Attribute {
        abi::Attribute {
            data: self.words.as_ptr().cast(),
            length: self.length,
        }
    }
}

/// A copy of these bytes that is aligned for all types.
fn words(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks(8).map(|bytes| {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(whole)
    });
    chunks.collect()
}

fn push(bytes: &mut Vec<u8>, value: &AttributeValue, dtype: DataType) {
    let float = match value {
        AttributeValue::Float(value) => *value,
        AttributeValue::Integer(value) => *value as f64,
        _ => f64::NAN,
    };
    match (value, dtype) {
        (AttributeValue::Pred(value), _) => bytes.push(u8::from(*value)),
        (_, DataType::F64) => bytes.extend(float.to_ne_bytes()),
        (_, DataType::F32) => bytes.extend((float as f32).to_ne_bytes()),
        (_, DataType::F16) => bytes.extend(f16::from_f64(float).to_ne_bytes()),
        (_, DataType::BF16) => bytes.extend(bf16::from_f64(float).to_ne_bytes()),
        (AttributeValue::Integer(value), dtype) => {
            // The signature's reader has made sure that it is in range.
            let size = dtype.size().unwrap_or(8);
            let all = value.to_ne_bytes();
            let low = if cfg!(target_endian = "big") {
                8 - size
            } else {
                0
            };
            bytes.extend_from_slice(&all[low..][..size]);
        }
        _ => {}
    }
}

/// Attributes as a body gets them.
#[derive(Default)]
pub(crate) struct Decoded {
    /// In the order of the signature.
    pub(crate) all: Vec<abi::Attribute>,
    /// For dimensions: the value of an integer, the length of an array; 0 for others.
    pub(crate) numbers: Vec<i64>,
    /// Scalars that XLA keeps less aligned than their type.
    aligned: Vec<[u64; 2]>,
    /// How many axes in front of all others are those of a batch.
    pub(crate) batch_axes: usize,
    /// What lay in the call's own memory, if it is to outlive the call.
    kept: Vec<Vec<u64>>,
}

// SAFETY: the addresses are used only in the call that they were decoded for, or after `keep`, from
// which on they are of memory that `kept` owns and nobody writes; without elements nobody reads them.
unsafe impl Send for Decoded {}

impl Decoded {
    /// Takes a call's attributes, one of which says which op it means if it is `marked`.
    pub(crate) fn read(
        &mut self,
        known: &[Attribute],
        defaults: &[Option<Stored>],
        attributes: &Attrs<'_>,
        marked: bool,
    ) -> Result<()> {
        self.all.clear();
        self.numbers.clear();
        self.batch_axes = 0;
        if known.is_empty() && attributes.len() == usize::from(marked) {
            return Ok(());
        }
        self.aligned.clear();
        self.aligned.reserve(known.len());
        self.all.extend(
            defaults
                .iter()
                .map(|default| default.as_ref().map_or(NONE, Stored::raw)),
        );
        for (name, attribute) in attributes.iter() {
            if let Some(at) = known.iter().position(|known| known.name.as_bytes() == name) {
                self.all[at] = self.one(&known[at], attribute)?;
            } else if name == BATCH.as_bytes() {
                self.batch_axes = attribute
                    .scalar::<i64>()
                    .and_then(|axes| usize::try_from(axes).ok())
                    .ok_or_else(|| mismatch(BATCH, "be a scalar i64 from 0", attribute.type_()))?;
            } else if name != OP.as_bytes() {
                return Err(unknown(known, name));
            }
        }
        for (attribute, known) in self.all.iter().zip(known) {
            if attribute.data.is_null() {
                return Err(mismatch(&known.name, &wanted(known), "none"));
            }
            self.numbers.push(match known.kind {
                // SAFETY: a scalar of that type, aligned.
                AttributeKind::Scalar(dtype) => unsafe { integer(attribute.data, dtype) },
                AttributeKind::Array(..) => i64::try_from(attribute.length).unwrap_or(i64::MAX),
                AttributeKind::Text => 0,
            });
        }
        Ok(())
    }

    /// Makes what was decoded last outlive the call that it was decoded for.
    pub(crate) fn keep(&mut self, known: &[Attribute]) {
        for (known, attribute) in known.iter().zip(&mut self.all) {
            // SAFETY: as it was decoded.
            let bytes = unsafe { bytes_of(known, attribute) };
            if !bytes.is_empty() {
                let words = words(bytes);
                attribute.data = words.as_ptr().cast();
                self.kept.push(words);
            }
        }
    }

    fn one(&mut self, known: &Attribute, attribute: AnyAttr<'_>) -> Result<abi::Attribute> {
        let (data, length) = attribute.as_raw();
        let size = match (&known.kind, attribute.type_()) {
            (AttributeKind::Scalar(want), AttrType::Scalar(got)) if *want == got => want.size(),
            (AttributeKind::Array(want, _), AttrType::Array(got)) if *want == got => want.size(),
            (AttributeKind::Text, AttrType::String) => Some(1),
            (_, got) => return Err(mismatch(&known.name, &wanted(known), got)),
        };
        let size = size.unwrap_or(1);
        if length == 0 {
            // Nobody reads it, but it is there.
            let data = ptr::NonNull::<u64>::dangling().as_ptr();
            return Ok(abi::Attribute {
                data: data.cast(),
                length,
            });
        }
        let is_aligned = data as usize & (size.min(8) - 1) == 0;
        match known.kind {
            _ if data.is_null() => Err(mismatch(&known.name, &wanted(known), "one without memory")),
            _ if is_aligned => Ok(abi::Attribute { data, length }),
            AttributeKind::Scalar(_) => {
                let mut copy = [0u64; 2];
                // SAFETY: XLA keeps one value of this type there, aligned or not.
                unsafe {
                    ptr::copy_nonoverlapping(
                        data.cast::<u8>(),
                        copy.as_mut_ptr().cast(),
                        size.min(16),
                    );
                }
                // There is room for all, so that no copy is ever moved.
                self.aligned.push(copy);
                let data = self
                    .aligned
                    .last()
                    .map_or(ptr::null(), |copy| copy.as_ptr());
                Ok(abi::Attribute {
                    data: data.cast(),
                    length,
                })
            }
            _ => Err(mismatch(
                &known.name,
                &wanted(known),
                "one that is not aligned",
            )),
        }
    }
}

/// All that the attributes are, as bytes.
pub(crate) fn all_bytes(known: &[Attribute], attributes: &Decoded) -> Vec<u8> {
    let mut all = Vec::new();
    for (known, attribute) in known.iter().zip(&attributes.all) {
        all.extend(attribute.length.to_ne_bytes());
        // SAFETY: an attribute as it was decoded.
        all.extend(unsafe { bytes_of(known, attribute) });
    }
    all
}

/// All bytes of an attribute.
///
/// # Safety
/// It was decoded for `known`, and what it was decoded from lives for `'a`.
pub(crate) unsafe fn bytes_of<'a>(known: &Attribute, attribute: &abi::Attribute) -> &'a [u8] {
    let size = match known.kind {
        AttributeKind::Scalar(dtype) | AttributeKind::Array(dtype, _) => dtype.size(),
        AttributeKind::Text => Some(1),
    };
    // SAFETY: by contract it has so many elements of that size.
    unsafe { slice::from_raw_parts(attribute.data.cast(), size.unwrap_or(1) * attribute.length) }
}

/// A scalar of an integer type, or of truth values; 0 for others.
///
/// # Safety
/// `data` points to one, aligned.
pub(crate) unsafe fn integer(data: *const c_void, dtype: DataType) -> i64 {
    // SAFETY: by contract.
    unsafe {
        match dtype {
            DataType::S8 => i64::from(data.cast::<i8>().read()),
            DataType::S16 => i64::from(data.cast::<i16>().read()),
            DataType::S32 => i64::from(data.cast::<i32>().read()),
            DataType::S64 => data.cast::<i64>().read(),
            DataType::PRED | DataType::U8 => i64::from(data.cast::<u8>().read()),
            DataType::U16 => i64::from(data.cast::<u16>().read()),
            DataType::U32 => i64::from(data.cast::<u32>().read()),
            DataType::U64 => i64::try_from(data.cast::<u64>().read()).unwrap_or(i64::MAX),
            _ => 0,
        }
    }
}

fn wanted(attribute: &Attribute) -> String {
    let type_ = match attribute.kind {
        AttributeKind::Scalar(dtype) => AttrType::Scalar(dtype),
        AttributeKind::Array(dtype, _) => AttrType::Array(dtype),
        AttributeKind::Text => AttrType::String,
    };
    format!("be {type_}")
}

#[cold]
fn mismatch(name: &str, expected: &str, got: impl core::fmt::Display) -> Error {
    Error::mismatch(
        Operand::new(OperandKind::Attribute, interned(name)),
        expected,
        got,
    )
}

#[cold]
fn unknown(known: &[Attribute], name: &[u8]) -> Error {
    let names: Vec<_> = known
        .iter()
        .map(|known| format!("`{}`", known.name))
        .collect();
    let there_are = match names.is_empty() {
        true => "it has none".to_owned(),
        false => format!("there are {}", names.join(", ")),
    };
    let name = String::from_utf8_lossy(name);
    Error::invalid_argument(format!("there is no attribute `{name}`: {there_are}"))
}
