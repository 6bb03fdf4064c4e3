//! The memory of a call: elements of arguments, and attributes laid out as XLA does.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use xla_ffi::{sys, DataKind, DataType};

use crate::call::{Attr, Fill};
use crate::rng::Rng;

/// Attributes laid out as XLA does.
#[derive(Default)]
pub struct Attributes {
    keep: Vec<Kept>,
}

/// What attributes point to.
#[allow(dead_code, reason = "held only for those who point there")]
enum Kept {
    Bytes(Vec<u64>),
    Span(Vec<sys::XLA_FFI_ByteSpan>),
    Scalar(Vec<sys::XLA_FFI_Scalar>),
    Array(Vec<sys::XLA_FFI_Array>),
    Attrs(Vec<sys::XLA_FFI_Attrs>),
    Types(Vec<i32>),
    Names(Vec<*mut sys::XLA_FFI_ByteSpan>),
    Values(Vec<*mut c_void>),
}

/// Keeps a value (in a `Vec`, which may be moved while others point into it); its address.
macro_rules! keep {
    ($all:expr, $kind:ident, $value:expr) => {{
        let mut value = vec![$value];
        let address = value.as_mut_ptr();
        $all.keep.push(Kept::$kind(value));
        address
    }};
}

impl Attributes {
    fn bytes(&mut self, bytes: &[u8]) -> *mut c_void {
        if bytes.is_empty() {
            return ptr::null_mut();
        }
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        for (to, from) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            *to = u64::from_ne_bytes(word);
        }
        let address = words.as_mut_ptr().cast();
        self.keep.push(Kept::Bytes(words));
        address
    }

    fn span(&mut self, text: &[u8]) -> *mut sys::XLA_FFI_ByteSpan {
        let ptr = self.bytes(text).cast_const().cast();
        let len = text.len();
        keep!(self, Span, sys::XLA_FFI_ByteSpan { ptr, len })
    }

    pub fn lay(&mut self, attrs: &[(Vec<u8>, Attr)]) -> sys::XLA_FFI_Attrs {
        let (mut types, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (name, attr) in attrs {
            names.push(self.span(name));
            let (type_, value) = self.value(attr);
            types.push(type_);
            values.push(value);
        }
        let raw = sys::XLA_FFI_Attrs {
            struct_size: size_of::<sys::XLA_FFI_Attrs>(),
            extension_start: ptr::null_mut(),
            size: types.len() as i64,
            types: types.as_mut_ptr(),
            names: names.as_mut_ptr(),
            attrs: values.as_mut_ptr(),
        };
        self.keep.push(Kept::Types(types));
        self.keep.push(Kept::Names(names));
        self.keep.push(Kept::Values(values));
        raw
    }

    fn value(&mut self, attr: &Attr) -> (i32, *mut c_void) {
        match attr {
            Attr::Scalar(dtype, bytes) => {
                let value = self.bytes(bytes);
                let raw = sys::XLA_FFI_Scalar {
                    dtype: dtype.0,
                    value,
                };
                (
                    sys::XLA_FFI_AttrType_SCALAR,
                    keep!(self, Scalar, raw).cast(),
                )
            }
            Attr::Array(dtype, size, bytes) => {
                let (dtype, size, data) = (dtype.0, *size, self.bytes(bytes));
                let raw = sys::XLA_FFI_Array { dtype, size, data };
                (sys::XLA_FFI_AttrType_ARRAY, keep!(self, Array, raw).cast())
            }
            Attr::Text(text) => (sys::XLA_FFI_AttrType_STRING, self.span(text).cast()),
            Attr::Table(attrs) => {
                let raw = self.lay(attrs);
                (
                    sys::XLA_FFI_AttrType_DICTIONARY,
                    keep!(self, Attrs, raw).cast(),
                )
            }
            Attr::Null(type_) => (*type_, ptr::null_mut()),
        }
    }
}

/// Elements of an argument.
pub fn fill(bytes: &mut [u8], dtype: DataType, how: Fill, rng: &mut Rng) {
    let Some(info) = dtype
        .info()
        .filter(|_| matches!(how, Fill::Ordinary | Fill::Special))
    else {
        match how {
            Fill::Zeros => bytes.fill(0),
            _ => bytes.iter_mut().for_each(|byte| *byte = rng.next() as u8),
        }
        return;
    };
    let part = dtype.part().unwrap_or(dtype);
    for element in bytes.chunks_exact_mut(part.size().unwrap_or(1)) {
        let special = how == Fill::Special && rng.one_in(8);
        match (info.kind, part) {
            (DataKind::Float | DataKind::Complex, DataType::F32) => {
                let x = number(special, rng) as f32;
                element.copy_from_slice(&x.to_ne_bytes());
            }
            (DataKind::Float | DataKind::Complex, DataType::F64) => {
                element.copy_from_slice(&number(special, rng).to_ne_bytes());
            }
            (DataKind::Signed | DataKind::Unsigned, _) if !special => {
                element.fill(0);
                let least = if cfg!(target_endian = "little") {
                    0
                } else {
                    element.len() - 1
                };
                element[least] = 1 + rng.below(9) as u8;
            }
            _ => element.iter_mut().for_each(|byte| *byte = rng.next() as u8),
        }
    }
}

fn number(special: bool, rng: &mut Rng) -> f64 {
    const SPECIAL: [f64; 9] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1e300,
        1e-300,
        1e-320,
        1e38,
    ];
    match special {
        true => *rng.pick(&SPECIAL),
        false => rng.number(),
    }
}
