//! The memory of a call's results, and what is left there where a handler computes nothing.

use xla_ffi::sys::{self, XLA_FFI_CallFrame};
use xla_ffi::{DataKind, DataType};

/// Memory of a result.
pub(super) struct Memory {
    address: *mut u8,
    bytes: usize,
    blank: u8,
}

// SAFETY: memory of a call, which any thread may write that has the call.
unsafe impl Send for Memory {}

impl Memory {
    /// Fills it with what stands for nothing.
    ///
    /// # Safety
    /// Its call has not ended.
    pub unsafe fn clear(&self) {
        // SAFETY: by this function's contract.
        unsafe { std::ptr::write_bytes(self.address, self.blank, self.bytes) };
    }
}

/// The byte of which NaN may consist, where the type has it.
fn blank(dtype: DataType) -> u8 {
    match (dtype, dtype.info().map(|info| info.kind)) {
        (DataType::F4E2M1FN, _) => 0,
        // Minus zero of other types
        (DataType::F8E4M3B11FNUZ | DataType::F8E5M2FNUZ | DataType::F8E4M3FNUZ, _) => 0x80,
        (_, Some(DataKind::Float | DataKind::Complex)) => 0xff,
        _ => 0,
    }
}

/// Where the results of a call go.
///
/// # Safety
/// `frame` is XLA's, or a copy of it.
pub(super) unsafe fn results(frame: &XLA_FFI_CallFrame) -> Vec<Memory> {
    let mut results = Vec::new();
    // SAFETY: the frame's arrays have as many elements as their sizes say; a buffer has its dims.
    unsafe {
        for i in 0..usize::try_from(frame.rets.size).unwrap_or(0) {
            if *frame.rets.types.add(i) != sys::XLA_FFI_RetType_BUFFER {
                continue;
            }
            let buffer = &*(*frame.rets.rets.add(i)).cast::<sys::XLA_FFI_Buffer>();
            let size = DataType(buffer.dtype).info().map_or(0, |info| info.size);
            let dims = (0..buffer.rank.max(0) as usize).map(|d| *buffer.dims.add(d) as usize);
            let bytes = dims.product::<usize>() * size;
            if !buffer.data.is_null() {
                results.push(Memory {
                    address: buffer.data.cast::<u8>(),
                    bytes,
                    blank: blank(DataType(buffer.dtype)),
                });
            }
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_results_are_nan_or_zero() {
        let bytes = |dtype| [blank(dtype); 8];
        assert!(f64::from_ne_bytes(bytes(DataType::F64)).is_nan());
        let single = |dtype| f32::from_ne_bytes(bytes(dtype)[..4].try_into().unwrap());
        assert!(single(DataType::F32).is_nan() && single(DataType::C64).is_nan());
        // The first half of a single-precision number
        let [low, high, ..] = bytes(DataType::BF16);
        assert!(f32::from_bits(u32::from(u16::from_ne_bytes([low, high])) << 16).is_nan());
        for (dtype, nan) in [
            (DataType::F16, 0xff),
            (DataType::C128, 0xff),
            (DataType::F8E5M2, 0xff),
            (DataType::F8E4M3FN, 0xff),
            (DataType::F8E8M0FNU, 0xff),
            (DataType::F8E4M3FNUZ, 0x80),
            (DataType::F4E2M1FN, 0),
            (DataType::S32, 0),
            (DataType::PRED, 0),
            (DataType::TOKEN, 0),
        ] {
            assert_eq!(blank(dtype), nan, "{dtype}");
        }
    }
}
