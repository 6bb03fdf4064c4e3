//! A buffer's descriptor, checked once: what typed and untyped buffers are made of.

use core::ffi::c_void;
use core::{mem, ptr};

use crate::attrs::raw_slice;
use crate::dims::{byte_len, element_count, Dims, RankSpec};
use crate::error::{Error, Operand, Result};
use crate::{sys, DataType};

/// A checked descriptor; invariant: `len` is the product of its dimensions, none of which is
/// negative. Small, because operands are moved several times on the way to an op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'f> {
    pub(crate) raw: &'f sys::XLA_FFI_Buffer,
    pub(crate) len: usize,
    pub(crate) operand: Operand,
    /// XLA's results, to see what shares memory with one.
    pub(crate) rets: &'f sys::XLA_FFI_Rets,
    /// This processor can read and write the memory.
    pub(crate) host: bool,
}

/// What a field asks of its buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    /// The element type, if it matters.
    pub(crate) dtype: Option<DataType>,
    pub(crate) rank: RankSpec,
}

impl Want {
    pub(crate) const ANYTHING: Want = Want {
        dtype: None,
        rank: RankSpec::Any,
    };
}

impl<'f> View<'f> {
    /// # Safety
    /// `raw` is null or an `XLA_FFI_Buffer` that lives, unchanged, for `'f`.
    // All checks come first, and all is inlined up to the operand struct's field: a view that is
    // made early and handed up through memory, level by level, costs more than its checks (each
    // copy waits for the stores before it).
    #[inline(always)]
    pub(crate) unsafe fn new(
        raw: *mut c_void,
        operand: Operand,
        want: Want,
        rets: &'f sys::XLA_FFI_Rets,
        host: bool,
    ) -> Result<Self> {
        let raw = raw.cast::<sys::XLA_FFI_Buffer>().cast_const();
        // SAFETY: if not null, by contract a descriptor; XLA fills it up to `dims`, the last field.
        let Some(raw) = (unsafe { raw.as_ref() }) else {
            return Err(Error::internal("is a null pointer").with_operand(operand));
        };
        let dtype = DataType(raw.dtype);
        if want.dtype.is_some_and(|want| want != dtype) {
            return Err(wrong_dtype(operand, want.dtype.unwrap_or(dtype), dtype));
        }
        // SAFETY: by contract.
        want.rank.check(operand, unsafe { dims_of(raw) })?;
        let len = checked_len(raw).ok_or_else(|| too_large(raw, operand))?;
        Ok(View {
            raw,
            len,
            operand,
            rets,
            host,
        })
    }

    #[inline]
    pub(crate) fn dtype(&self) -> DataType {
        DataType(self.raw.dtype)
    }

    #[inline]
    pub(crate) fn dims(&self) -> &'f [i64] {
        // SAFETY: XLA's `dims` has `rank` entries and lives as long as the descriptor.
        unsafe { dims_of(self.raw) }
    }

    #[inline]
    pub(crate) fn data(&self) -> *mut u8 {
        self.raw.data.cast()
    }

    pub(crate) fn byte_len(&self) -> Result<usize> {
        byte_len(self.dtype(), self.len).ok_or_else(|| {
            Error::mismatch(
                self.operand,
                "be of a known dtype and fit in memory",
                self.dtype(),
            )
        })
    }

    #[inline]
    pub(crate) fn expect_dtype(&self, dtype: DataType) -> Result<()> {
        if self.dtype() == dtype {
            return Ok(());
        }
        Err(wrong_dtype(self.operand, dtype, self.dtype()))
    }

    /// The address of the first element, fit for a slice of `T`.
    #[inline]
    pub(crate) fn host_ptr<T>(&self) -> Result<*mut T> {
        let data = self.data().cast::<T>();
        if self.len == 0 {
            return Ok(ptr::NonNull::dangling().as_ptr());
        }
        let fault = if !self.host {
            "is in the device's memory, which this processor cannot read"
        } else if data.is_null() {
            "has elements but no memory"
        } else if data.align_offset(mem::align_of::<T>()) != 0 {
            "is not aligned to its element type"
        } else {
            return Ok(data);
        };
        Err(Error::internal(fault).with_operand(self.operand))
    }

    /// Addresses `[start, end)`; empty where nothing is stored.
    #[inline]
    pub(crate) fn range(&self) -> (usize, usize) {
        let start = self.raw.data as usize;
        (
            start,
            start.saturating_add(byte_len(self.dtype(), self.len).unwrap_or(0)),
        )
    }

    /// Whether it shares memory with a result, `except` aside.
    #[inline]
    pub(crate) fn overlaps_result(&self, except: Option<*mut u8>) -> bool {
        // SAFETY: XLA's array has `size` entries.
        let rets = unsafe { raw_slice(self.rets.rets, self.rets.size) };
        rets.iter().any(|&ret| {
            let ret = ret.cast::<sys::XLA_FFI_Buffer>().cast_const();
            // SAFETY: XLA's descriptors, as in `View::new`.
            let Some(ret) = (unsafe { ret.as_ref() }) else {
                return false;
            };
            if except == Some(ret.data.cast()) {
                return false;
            }
            // SAFETY: as in `View::new`.
            let len = element_count(unsafe { dims_of(ret) }).unwrap_or(usize::MAX);
            let size = byte_len(DataType(ret.dtype), len).unwrap_or(usize::MAX);
            overlap(
                self.range(),
                (ret.data as usize, (ret.data as usize).saturating_add(size)),
            )
        })
    }
}

/// Number of elements; `None` if a dimension is negative or no Rust slice could be that long. (The
/// size of an unknown dtype does not matter: it never becomes a slice.)
#[inline]
fn checked_len(raw: &sys::XLA_FFI_Buffer) -> Option<usize> {
    let dtype = DataType(raw.dtype);
    // SAFETY: XLA's descriptor, see `View::new`.
    let len = element_count(unsafe { dims_of(raw) })?;
    (dtype.size().is_none() || byte_len(dtype, len).is_some()).then_some(len)
}

#[cold]
fn wrong_dtype(operand: Operand, want: DataType, got: DataType) -> Error {
    Error::mismatch(operand, format_args!("be {want}"), got)
}

#[cold]
pub(crate) fn too_large(raw: &sys::XLA_FFI_Buffer, operand: Operand) -> Error {
    // SAFETY: XLA's descriptor, see `View::new`.
    let got = format!("shape {}", Dims(unsafe { dims_of(raw) }));
    Error::mismatch(operand, "have a size that fits in memory", got)
}

#[inline]
pub(crate) fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.1 && b.0 < a.1 && a.0 < a.1 && b.0 < b.1
}

/// # Safety
/// `dims` of `raw` is null or has `rank` entries that live for `'f`.
unsafe fn dims_of<'f>(raw: &sys::XLA_FFI_Buffer) -> &'f [i64] {
    // SAFETY: by contract.
    unsafe { raw_slice(raw.dims, raw.rank) }
}
