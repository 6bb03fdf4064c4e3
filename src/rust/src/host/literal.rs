//! Elements written as StableHLO's `dense<>` attribute reads them.

use pjrt::DType;
use xla_ffi::half::{bf16, f16};

/// One text per element of `bytes`, which holds elements of `dtype` without gaps.
pub fn literals(dtype: DType, bytes: &[u8]) -> Vec<String> {
    let write = writer(dtype);
    bytes.chunks_exact(dtype.size()).map(write).collect()
}

fn writer(dtype: DType) -> fn(&[u8]) -> String {
    fn raw<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    fn complex(bytes: &[u8], part: fn(&[u8]) -> String) -> String {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        format!("({}, {})", part(re), part(im))
    }
    fn single(bytes: &[u8]) -> String {
        let x = f32::from_ne_bytes(raw(bytes));
        float(f64::from(x), 8, format!("0x{:08X}", x.to_bits()))
    }
    fn double(bytes: &[u8]) -> String {
        let x = f64::from_ne_bytes(raw(bytes));
        float(x, 16, format!("0x{:016X}", x.to_bits()))
    }
    match dtype {
        DType::Pred => |b| (b[0] != 0).to_string(),
        DType::I8 => |b| i8::from_ne_bytes(raw(b)).to_string(),
        DType::I16 => |b| i16::from_ne_bytes(raw(b)).to_string(),
        DType::I32 => |b| i32::from_ne_bytes(raw(b)).to_string(),
        DType::I64 => |b| i64::from_ne_bytes(raw(b)).to_string(),
        DType::U8 => |b| u8::from_ne_bytes(raw(b)).to_string(),
        DType::U16 => |b| u16::from_ne_bytes(raw(b)).to_string(),
        DType::U32 => |b| u32::from_ne_bytes(raw(b)).to_string(),
        DType::U64 => |b| u64::from_ne_bytes(raw(b)).to_string(),
        DType::F16 => |b| {
            let x = f16::from_ne_bytes(raw(b));
            float(x.to_f64(), 4, format!("0x{:04X}", x.to_bits()))
        },
        DType::BF16 => |b| {
            let x = bf16::from_ne_bytes(raw(b));
            float(x.to_f64(), 3, format!("0x{:04X}", x.to_bits()))
        },
        DType::F32 => single,
        DType::F64 => double,
        DType::C64 => |b| complex(b, single),
        DType::C128 => |b| complex(b, double),
    }
}

/// `digits` after the point, C's exponent of at least two digits; the bits where there is no
/// decimal form.
fn float(x: f64, digits: usize, bits: String) -> String {
    if !x.is_finite() {
        return bits;
    }
    let text = format!("{x:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, number) = match exponent.strip_prefix('-') {
                Some(number) => ('-', number),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{number:0>2}")
        }
        None => text,
    }
}
