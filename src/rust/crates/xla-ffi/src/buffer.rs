//! Buffers whose element type is known at run time only.
//!
//! XLA may give an argument and a result the same memory (`output_operand_aliases`). Rust forbids a
//! shared and a mutable slice of one memory, so an argument that shares memory with a result has no
//! slice: [`copy_from`](AnyBufferMut::copy_from) and [`map_from`](crate::Ret::map_from) work in
//! place.

use core::ffi::c_void;
use core::{ptr, slice};

use crate::dims::{element_count, Dims, RankSpec};
use crate::error::{Error, Operand, Result};
use crate::view::{overlap, too_large, View};
use crate::{DataType, Scalar};

/// An argument of any element type.
#[derive(Clone, Copy, Debug)]
pub struct AnyBuffer<'f>(View<'f>);

/// A result of any element type. There is only one of these for each result of a call.
#[derive(Debug)]
pub struct AnyBufferMut<'f>(View<'f>);

// SAFETY: it only reads, from memory that nobody writes during the call but through a result that
// does not overlap it (checked before every read).
unsafe impl Send for AnyBuffer<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyBuffer<'_> {}
// SAFETY: it is the only way to its memory, like `&mut [T]` with `T: Send`.
unsafe impl Send for AnyBufferMut<'_> {}
// SAFETY: `&AnyBufferMut` reads the descriptor only.
unsafe impl Sync for AnyBufferMut<'_> {}

/// Equality in a plain loop: shapes are too short to call `memcmp` for.
#[inline(always)]
fn same(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

macro_rules! describe {
    ($name:ident) => {
        impl<'f> $name<'f> {
            /// # Safety
            /// The memory is as XLA promises: `dims` elements of `dtype`, and for a result nobody
            /// else's.
            #[inline(always)]
            pub(crate) unsafe fn new(view: View<'f>) -> Self {
                $name(view)
            }

            /// Element type.
            #[must_use]
            #[inline]
            pub fn dtype(&self) -> DataType {
                self.0.dtype()
            }

            /// Dimensions, none of them negative; empty for a scalar.
            #[must_use]
            #[inline]
            pub fn dims(&self) -> &'f [i64] {
                self.0.dims()
            }

            /// Number of dimensions.
            #[must_use]
            #[inline]
            pub fn rank(&self) -> usize {
                self.0.dims().len()
            }

            /// Number of elements: the product of the dimensions, 1 for a scalar.
            #[must_use]
            #[inline]
            pub fn len(&self) -> usize {
                self.0.len
            }

            /// Whether there are no elements.
            #[must_use]
            #[inline]
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
            #[inline]
            pub fn operand(&self) -> Operand {
                self.0.operand
            }

            /// Address of the first element, in the device's memory; may be null where there are
            /// none.
            #[must_use]
            #[inline]
            pub fn as_ptr(&self) -> *const c_void {
                self.0.data().cast_const().cast()
            }

            /// Checks the shape.
            ///
            /// # Errors
            /// ``result `lu` must have shape (2,3), got (3,2)``.
            #[inline]
            pub fn expect_dims(&self, dims: &[i64]) -> Result<()> {
                self.expect_batch_dims(dims, &[])
            }

            /// Checks the shape, given in two parts: batch dimensions and the rest.
            ///
            /// # Errors
            /// As [`expect_dims`](Self::expect_dims).
            #[inline]
            pub fn expect_batch_dims(&self, batch: &[i64], rest: &[i64]) -> Result<()> {
                let dims = self.0.dims();
                if let Some((first, last)) = dims.split_at_checked(batch.len()) {
                    if same(first, batch) && same(last, rest) {
                        return Ok(());
                    }
                }
                Err(Error::mismatch(
                    self.0.operand,
                    format_args!("have shape {}", Dims(&[batch, rest].concat())),
                    Dims(self.0.dims()),
                ))
            }

            /// Splits off the last `N` dimensions: the batch dimensions, their product, and the
            /// last `N`. For a batch of matrices:
            /// `let (batch_dims, batch, [m, n]) = a.split_dims()?`.
            ///
            /// # Errors
            /// ``argument `a` must have rank 2 or more, got rank 1``.
            #[inline]
            pub fn split_dims<const N: usize>(&self) -> Result<(&'f [i64], usize, [usize; N])> {
                RankSpec::AtLeast(N).check(self.0.operand, self.0.dims())?;
                let (batch, rest) = self.0.dims().split_at(self.0.dims().len() - N);
                let mut last = [0; N];
                for (to, &from) in last.iter_mut().zip(rest) {
                    *to = usize::try_from(from).unwrap_or(usize::MAX);
                }
                // Where a trailing dimension is 0, `len` says nothing about the batch dimensions.
                let count =
                    element_count(batch).ok_or_else(|| too_large(self.0.raw, self.0.operand))?;
                Ok((batch, count, last))
            }

            /// Checks the element type.
            ///
            /// # Errors
            /// ``argument `a` must be f32, got i32``.
            #[inline]
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

    /// Checks that no result has (part of) this argument's memory, for ops that read it after they
    /// wrote to results. Slices do.
    ///
    /// # Errors
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition).
    pub fn expect_unaliased(&self) -> Result<()> {
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
    #[inline]
    pub fn as_slice<T: Scalar>(&self) -> Result<&'f [T]> {
        self.0.expect_dtype(T::DTYPE)?;
        let data = self.0.host_ptr::<T>()?;
        self.expect_unaliased()?;
        // SAFETY: `host_ptr` made sure of readable, aligned memory, XLA of `len` elements of this
        // dtype (any bit pattern is a `T`) that stay for the call; no result overlaps them, so
        // nobody writes.
        Ok(unsafe { slice::from_raw_parts(data, self.0.len) })
    }

    /// The bytes of the elements.
    ///
    /// # Errors
    /// The element type is unknown; the memory is a device's; XLA gave it to a result as well.
    #[inline]
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
        self.0.data().cast()
    }

    /// The elements, in the order in which they lie in memory. Until written they hold anything.
    ///
    /// # Errors
    /// The element type is not `T`; the memory is a device's.
    #[inline]
    pub fn as_mut_slice<T: Scalar>(&mut self) -> Result<&mut [T]> {
        self.0.expect_dtype(T::DTYPE)?;
        let data = self.0.host_ptr::<T>()?;
        // SAFETY: `host_ptr` made sure of writable, aligned memory, XLA of `len` elements that stay
        // for the call. Results do not overlap each other, arguments that overlap have no slice,
        // and the borrow of `self` keeps a second one of this away.
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
    #[inline]
    pub fn copy_from(&mut self, from: &AnyBuffer<'_>) -> Result<()> {
        self.0.expect_dtype(from.0.dtype())?;
        self.expect_dims(from.0.dims())?;
        if self.0.data() == from.0.data() {
            return Ok(());
        }
        if from.0.overlaps_result(Some(self.0.data())) {
            from.expect_unaliased()?;
        }
        let size = self.0.byte_len()?;
        let (from, to) = (from.0.host_ptr::<u8>()?, self.0.host_ptr::<u8>()?);
        // SAFETY: both have `size` bytes (same dtype and shape) of memory that this processor
        // reaches; no slice of `self` is out, and what is read belongs to no other result. `copy`
        // allows overlap.
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
            if arg.0.dims() != self.0.dims() {
                return self.expect_dims(arg.0.dims());
            }
            // One that starts elsewhere and overlaps would be overwritten before it is read.
            let shifted = arg.0.data() != self.0.data() && overlap(arg.0.range(), self.0.range());
            if shifted || arg.0.overlaps_result(Some(self.0.data())) {
                arg.expect_unaliased()?;
            }
            *from = arg.0.host_ptr::<T>()?;
        }
        for i in 0..self.0.len {
            // SAFETY: `i < len` of all (same shape), memory as in `as_slice`; raw reads and writes,
            // so that an argument may be this very memory.
            unsafe { to.add(i).write(f(from.map(|from| from.add(i).read()))) };
        }
        Ok(())
    }
}
