//! Buffers whose element type is known at run time only.
//!
//! XLA may give an argument and a result the same memory (`output_operand_aliases`). Rust forbids a
//! shared and a mutable slice of one memory, so an argument that shares memory with a result has no
//! slice: [`copy_from`](AnyBufferMut::copy_from) and [`map_from`](crate::Ret::map_from) work in place.

use core::ffi::c_void;
use core::{mem, ptr, slice};

use crate::dims::{byte_len, element_count, Dims};
use crate::error::{Error, Operand, Result};
use crate::{sys, DataType, Scalar};

/// What every buffer of a frame must know of its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'f> {
    /// Descriptors of all results.
    pub(crate) rets: &'f [*mut c_void],
    /// The memory can be read and written by this processor.
    pub(crate) host: bool,
}

/// A decoded descriptor; invariant: `len` is the product of `dims`, none of which is negative.
#[derive(Clone, Copy, Debug)]
struct View<'f> {
    dtype: DataType,
    dims: &'f [i64],
    len: usize,
    data: *mut u8,
    operand: Operand,
    shared: Shared<'f>,
}

impl<'f> View<'f> {
    /// # Safety
    /// `raw` is null or an `XLA_FFI_Buffer` that lives, unchanged, for `'f`.
    unsafe fn new(raw: *mut c_void, operand: Operand, shared: Shared<'f>) -> Result<Self> {
        let raw = raw.cast::<sys::XLA_FFI_Buffer>().cast_const();
        if raw.is_null() {
            return Err(Error::internal("is a null pointer").with_operand(operand));
        }
        // SAFETY: not null, so by contract a descriptor; XLA fills it up to `dims`, the last field.
        let raw = unsafe { &*raw };
        // SAFETY: XLA's `dims` has `rank` entries and lives as long as the descriptor.
        let dims = unsafe { dims_of(raw) };
        let dtype = DataType(raw.dtype);
        // No Rust slice may be longer than `isize::MAX` bytes. (An unknown dtype never becomes one.)
        let fits = |&len: &usize| dtype.size().is_none() || byte_len(dtype, len).is_some();
        let Some(len) = element_count(dims).filter(fits) else {
            return Err(Error::mismatch(
                operand,
                "have a size that fits in memory",
                format_args!("shape {}", Dims(dims)),
            ));
        };
        Ok(View {
            dtype,
            dims,
            len,
            data: raw.data.cast(),
            operand,
            shared,
        })
    }

    fn byte_len(&self) -> Result<usize> {
        byte_len(self.dtype, self.len).ok_or_else(|| {
            Error::mismatch(
                self.operand,
                "be of a known dtype and fit in memory",
                self.dtype,
            )
        })
    }

    fn expect_dtype(&self, dtype: DataType) -> Result<()> {
        if self.dtype == dtype {
            return Ok(());
        }
        Err(Error::mismatch(
            self.operand,
            format_args!("be {dtype}"),
            self.dtype,
        ))
    }

    /// The address of the first element, fit for a slice of `T`.
    fn host_ptr<T>(&self) -> Result<*mut T> {
        let data = self.data.cast::<T>();
        if self.len == 0 {
            return Ok(ptr::NonNull::dangling().as_ptr());
        }
        let fault = if !self.shared.host {
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
    fn range(&self) -> (usize, usize) {
        let start = self.data as usize;
        (
            start,
            start.saturating_add(byte_len(self.dtype, self.len).unwrap_or(0)),
        )
    }

    /// Whether it shares memory with a result, `except` aside.
    fn overlaps_result(&self, except: Option<*mut u8>) -> bool {
        self.shared.rets.iter().any(|&ret| {
            let ret = ret.cast::<sys::XLA_FFI_Buffer>().cast_const();
            if ret.is_null() {
                return false;
            }
            // SAFETY: `rets` are XLA's descriptors, as in `View::new`.
            let ret = unsafe { &*ret };
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

fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.1 && b.0 < a.1 && a.0 < a.1 && b.0 < b.1
}

/// # Safety
/// `dims` of `raw` is null or has `rank` entries that live for `'f`.
unsafe fn dims_of<'f>(raw: &sys::XLA_FFI_Buffer) -> &'f [i64] {
    match usize::try_from(raw.rank) {
        // SAFETY: by contract.
        Ok(rank) if rank > 0 && !raw.dims.is_null() => unsafe {
            slice::from_raw_parts(raw.dims, rank)
        },
        _ => &[],
    }
}

/// An argument of any element type.
#[derive(Clone, Copy, Debug)]
pub struct AnyBuffer<'f>(View<'f>);

/// A result of any element type. There is only one of these for each result of a call.
#[derive(Debug)]
pub struct AnyBufferMut<'f>(View<'f>);

// SAFETY: it only reads, from memory that nobody writes during the call but through a result that does
// not overlap it (checked before every read).
unsafe impl Send for AnyBuffer<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyBuffer<'_> {}
// SAFETY: it is the only way to its memory, like `&mut [T]` with `T: Send`.
unsafe impl Send for AnyBufferMut<'_> {}
// SAFETY: `&AnyBufferMut` reads the descriptor only.
unsafe impl Sync for AnyBufferMut<'_> {}

macro_rules! describe {
    ($name:ident) => {
        impl<'f> $name<'f> {
            /// # Safety
            /// `raw` is null or an `XLA_FFI_Buffer` that lives, unchanged, for `'f`, and its memory is as XLA
            /// promises: `dims` elements of `dtype`, and for a result nobody else's.
            pub(crate) unsafe fn from_raw(
                raw: *mut c_void,
                operand: Operand,
                shared: Shared<'f>,
            ) -> Result<Self> {
                // SAFETY: by contract.
                Ok($name(unsafe { View::new(raw, operand, shared) }?))
            }

            /// Element type.
            #[must_use]
            pub fn dtype(&self) -> DataType {
                self.0.dtype
            }

            /// Dimensions, none of them negative; empty for a scalar.
            #[must_use]
            pub fn dims(&self) -> &'f [i64] {
                self.0.dims
            }

            /// Number of dimensions.
            #[must_use]
            pub fn rank(&self) -> usize {
                self.0.dims.len()
            }

            /// Number of elements: the product of the dimensions, 1 for a scalar.
            #[must_use]
            pub fn len(&self) -> usize {
                self.0.len
            }

            /// Whether there are no elements.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.0.len == 0
            }

            /// Size in bytes.
            ///
            /// # Errors
            /// The element type is one that this crate does not know.
            pub fn byte_len(&self) -> Result<usize> {
                self.0.byte_len()
            }

            /// Which operand this is.
            #[must_use]
            pub fn operand(&self) -> Operand {
                self.0.operand
            }

            /// Address of the first element, in the device's memory; may be null where there are none.
            #[must_use]
            pub fn as_ptr(&self) -> *const c_void {
                self.0.data.cast_const().cast()
            }

            /// Checks the shape.
            ///
            /// # Errors
            /// ``result `lu` must have shape (2,3), got (3,2)``.
            pub fn expect_dims(&self, dims: &[i64]) -> Result<()> {
                self.expect_batch_dims(dims, &[])
            }

            /// Checks the shape, given in two parts: batch dimensions and the rest.
            ///
            /// # Errors
            /// As [`expect_dims`](Self::expect_dims).
            pub fn expect_batch_dims(&self, batch: &[i64], rest: &[i64]) -> Result<()> {
                if self.0.dims.iter().eq(batch.iter().chain(rest)) {
                    return Ok(());
                }
                Err(Error::mismatch(
                    self.0.operand,
                    format_args!("have shape {}", Dims(&[batch, rest].concat())),
                    Dims(self.0.dims),
                ))
            }

            /// Splits off the last `N` dimensions: the batch dimensions, their product, and the last `N`. For a
            /// batch of matrices `let (batch_dims, batch, [m, n]) = a.split_dims()?`.
            ///
            /// # Errors
            /// ``argument `a` must have rank 2 or more, got rank 1``.
            pub fn split_dims<const N: usize>(&self) -> Result<(&'f [i64], usize, [usize; N])> {
                crate::RankSpec::AtLeast(N).check(self.0.operand, self.0.dims)?;
                let (batch, rest) = self.0.dims.split_at(self.0.dims.len() - N);
                let mut last = [0; N];
                for (to, &from) in last.iter_mut().zip(rest) {
                    *to = usize::try_from(from).unwrap_or(usize::MAX);
                }
                // Where a trailing dimension is 0, `len` says nothing about the batch dimensions.
                let count = element_count(batch).ok_or_else(|| {
                    Error::mismatch(
                        self.0.operand,
                        "have a size that fits in memory",
                        format_args!("shape {}", Dims(self.0.dims)),
                    )
                })?;
                Ok((batch, count, last))
            }

            /// Checks the element type.
            ///
            /// # Errors
            /// ``argument `a` must be f32, got i32``.
            pub fn expect_dtype(&self, dtype: DataType) -> Result<()> {
                self.0.expect_dtype(dtype)
            }
        }
    };
}

describe!(AnyBuffer);
describe!(AnyBufferMut);

impl<'f> AnyBuffer<'f> {
    /// Whether XLA gave this argument (part of) the memory of a result.
    #[must_use]
    pub fn is_aliased(&self) -> bool {
        self.0.overlaps_result(None)
    }

    fn expect_unaliased(&self) -> Result<()> {
        if !self.is_aliased() {
            return Ok(());
        }
        let fault = "shares its memory with a result, but this op cannot work in place";
        Err(Error::new(crate::Code::FailedPrecondition, fault).with_operand(self.0.operand))
    }

    /// The elements, in the order in which they lie in memory.
    ///
    /// # Errors
    /// The element type is not `T`; the memory is a device's; XLA gave it to a result as well.
    pub fn as_slice<T: Scalar>(&self) -> Result<&'f [T]> {
        self.0.expect_dtype(T::DTYPE)?;
        let data = self.0.host_ptr::<T>()?;
        self.expect_unaliased()?;
        // SAFETY: `host_ptr` made sure of readable, aligned memory, XLA of `len` elements of this dtype (any bit
        // pattern is a `T`) that stay for the call; no result overlaps them, so nobody writes.
        Ok(unsafe { slice::from_raw_parts(data, self.0.len) })
    }

    /// The bytes of the elements.
    ///
    /// # Errors
    /// The element type is unknown; the memory is a device's; XLA gave it to a result as well.
    pub fn as_bytes(&self) -> Result<&'f [u8]> {
        let size = self.0.byte_len()?;
        let data = self.0.host_ptr::<u8>()?;
        self.expect_unaliased()?;
        // SAFETY: as in `as_slice`.
        Ok(unsafe { slice::from_raw_parts(data, size) })
    }
}

impl<'f> AnyBufferMut<'f> {
    /// Address of the first element, in the device's memory; may be null where there are none.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.data.cast()
    }

    /// The elements, in the order in which they lie in memory. Until written they hold anything.
    ///
    /// # Errors
    /// The element type is not `T`; the memory is a device's.
    pub fn as_mut_slice<T: Scalar>(&mut self) -> Result<&mut [T]> {
        self.0.expect_dtype(T::DTYPE)?;
        let data = self.0.host_ptr::<T>()?;
        // SAFETY: `host_ptr` made sure of writable, aligned memory, XLA of `len` elements that stay for the call. Results
        // do not overlap each other, arguments that overlap have no slice, and the borrow of `self` keeps a
        // second one of this away.
        Ok(unsafe { slice::from_raw_parts_mut(data, self.0.len) })
    }

    /// As [`as_mut_slice`](Self::as_mut_slice), for as long as the call lasts.
    ///
    /// # Errors
    /// As [`as_mut_slice`](Self::as_mut_slice).
    pub fn into_mut_slice<T: Scalar>(mut self) -> Result<&'f mut [T]> {
        let slice = self.as_mut_slice::<T>()?;
        // SAFETY: the memory lives for `'f`, and `self`, the only way to it, is gone.
        Ok(unsafe { slice::from_raw_parts_mut(slice.as_mut_ptr(), slice.len()) })
    }

    /// The bytes of the elements.
    ///
    /// # Errors
    /// The element type is unknown; the memory is a device's.
    pub fn as_mut_bytes(&mut self) -> Result<&mut [u8]> {
        let size = self.0.byte_len()?;
        let data = self.0.host_ptr::<u8>()?;
        // SAFETY: as in `as_mut_slice`.
        Ok(unsafe { slice::from_raw_parts_mut(data, size) })
    }

    /// Copies the argument here; does nothing where XLA gave both the same memory, on any device.
    ///
    /// # Errors
    /// The element types or the shapes differ; the memory is a device's.
    pub fn copy_from(&mut self, from: &AnyBuffer<'_>) -> Result<()> {
        self.0.expect_dtype(from.0.dtype)?;
        self.expect_dims(from.0.dims)?;
        if self.0.data == from.0.data {
            return Ok(());
        }
        if from.0.overlaps_result(Some(self.0.data)) {
            from.expect_unaliased()?;
        }
        let size = self.0.byte_len()?;
        let (from, to) = (from.0.host_ptr::<u8>()?, self.0.host_ptr::<u8>()?);
        // SAFETY: both have `size` bytes (same dtype and shape) of memory that this processor reaches; no slice of
        // `self` is out, and what is read belongs to no other result. `copy` allows overlap.
        unsafe { ptr::copy(from, to, size) };
        Ok(())
    }

    /// For every element, `f` of the elements of `args` at the same place. Right in place, too.
    pub(crate) fn map_from<T: Scalar, const N: usize>(
        &mut self,
        args: [&AnyBuffer<'_>; N],
        mut f: impl FnMut([T; N]) -> T,
    ) -> Result<()> {
        self.0.expect_dtype(T::DTYPE)?;
        let to = self.0.host_ptr::<T>()?;
        let mut from = [ptr::null::<T>(); N];
        for (from, arg) in from.iter_mut().zip(args) {
            arg.0.expect_dtype(T::DTYPE)?;
            if arg.0.dims != self.0.dims {
                return self.expect_dims(arg.0.dims);
            }
            // One that starts elsewhere and overlaps would be overwritten before it is read.
            let shifted = arg.0.data != self.0.data && overlap(arg.0.range(), self.0.range());
            if shifted || arg.0.overlaps_result(Some(self.0.data)) {
                arg.expect_unaliased()?;
            }
            *from = arg.0.host_ptr::<T>()?;
        }
        for i in 0..self.0.len {
            // SAFETY: `i < len` of all (same shape), memory as in `as_slice`; raw reads and writes, so that an argument
            // may be this very memory.
            unsafe { to.add(i).write(f(from.map(|from| from.add(i).read()))) };
        }
        Ok(())
    }
}
