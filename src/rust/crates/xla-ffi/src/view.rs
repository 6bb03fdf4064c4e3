//! A buffer's descriptor, checked once: what typed and untyped buffers are made of.

use core::ffi::c_void;
use core::{mem, ptr};

use crate::attr::raw_slice;
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

/// The descriptor and its number of elements, if it is what is wanted. Two words, which come back
/// in registers: a view that is made early and handed up through memory, level by level, costs more
/// than its checks (each copy waits for the stores before it).
///
/// # Safety
/// `raw` is null or an `XLA_FFI_Buffer` that lives, unchanged, for `'f`.
#[inline(always)]
pub(crate) unsafe fn checked<'f>(
    raw: *mut c_void,
    want: &Want,
) -> Option<(&'f sys::XLA_FFI_Buffer, usize)> {
    // SAFETY: if not null, by contract a descriptor; XLA fills it up to `dims`, the last field.
    let raw = unsafe { raw.cast::<sys::XLA_FFI_Buffer>().cast_const().as_ref() }?;
    // SAFETY: by contract.
    let rank = unsafe { dims_of(raw) }.len();
    let fits = want.dtype.map_or(true, |want| want.0 == raw.dtype) && want.rank.allows(rank);
    if !fits {
        return None;
    }
    Some((raw, checked_len(raw)?))
}

/// What [`checked`] found.
///
/// # Safety
/// As there.
#[cold]
pub(crate) unsafe fn fault(raw: *mut c_void, want: &Want, operand: Operand) -> Error {
    // SAFETY: as in `checked`.
    let Some(raw) = (unsafe { raw.cast::<sys::XLA_FFI_Buffer>().cast_const().as_ref() }) else {
        return Error::internal("is a null pointer").with_operand(operand);
    };
    let dtype = DataType(raw.dtype);
    if let Some(want) = want.dtype.filter(|&want| want != dtype) {
        return wrong_dtype(operand, want, dtype);
    }
    // SAFETY: by contract.
    match want.rank.check(operand, unsafe { dims_of(raw) }) {
        Err(error) => error,
        Ok(()) => too_large(raw, operand),
    }
}

impl<'f> View<'f> {
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
        let range = self.range();
        rets.iter().any(|&ret| {
            let ret = ret.cast::<sys::XLA_FFI_Buffer>().cast_const();
            // SAFETY: XLA's descriptors, as in `checked`.
            let Some(ret) = (unsafe { ret.as_ref() }) else {
                return false;
            };
            // One that starts behind the end is the usual case, and needs no size.
            if except == Some(ret.data.cast()) || ret.data as usize >= range.1 {
                return false;
            }
            // SAFETY: as in `checked`.
            let len = element_count(unsafe { dims_of(ret) }).unwrap_or(usize::MAX);
            let size = byte_len(DataType(ret.dtype), len).unwrap_or(usize::MAX);
            overlap(
                range,
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
    // SAFETY: XLA's descriptor, see `checked`.
    let len = element_count(unsafe { dims_of(raw) })?;
    (dtype.size().is_none() || byte_len(dtype, len).is_some()).then_some(len)
}

#[cold]
fn wrong_dtype(operand: Operand, want: DataType, got: DataType) -> Error {
    Error::mismatch(operand, format_args!("be {want}"), got)
}

#[cold]
pub(crate) fn too_large(raw: &sys::XLA_FFI_Buffer, operand: Operand) -> Error {
    // SAFETY: XLA's descriptor, see `checked`.
    let got = format!("shape {}", Dims(unsafe { dims_of(raw) }));
    Error::mismatch(operand, "have a size that fits in memory", got)
}

#[inline]
pub(crate) fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.1 && b.0 < a.1 && a.0 < a.1 && b.0 < b.1
}

/// # Safety
/// `dims` of `raw` is null or has `rank` entries that live for `'f`.
#[inline]
pub(crate) unsafe fn dims_of<'f>(raw: &sys::XLA_FFI_Buffer) -> &'f [i64] {
    // SAFETY: by contract.
    unsafe { raw_slice(raw.dims, raw.rank) }
}
