//! Memory of the device as slices of a type: where it is, how many elements it has and for how long
//! it is there. They are made of operands ([`DeviceSlice::of`], [`DeviceSliceMut::of`]) and of
//! scratch memory ([`crate::scratch`]) only. The host reads nothing there: who gives an address to
//! the device takes it by [`DeviceSlice::matrices`], which compares the lengths.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Error, Result, Scalar};

/// Elements that the device reads.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSlice<'m, T> {
    address: *const c_void,
    len: usize,
    memory: PhantomData<&'m [T]>,
}

/// Elements that the device reads and writes.
#[derive(Debug)]
pub struct DeviceSliceMut<'m, T> {
    address: *mut c_void,
    len: usize,
    memory: PhantomData<&'m mut [T]>,
}

impl<'m, T: Scalar> DeviceSlice<'m, T> {
    /// An argument, for work that reads it while it writes results.
    ///
    /// # Errors
    /// Its element type is not `T`; XLA gave its memory to a result as well.
    pub fn of(buffer: &'m AnyBuffer<'_>) -> Result<Self> {
        buffer.expect_dtype(T::DTYPE)?;
        buffer.expect_unaliased()?;
        Ok(DeviceSlice {
            address: buffer.as_ptr(),
            len: buffer.len(),
            memory: PhantomData,
        })
    }

    /// The first `count` of matrices (or vectors) of `each` elements that lie one behind the other.
    /// `name` is for the error.
    ///
    /// # Errors
    /// There are fewer elements.
    pub(crate) fn matrices(
        &self,
        name: &str,
        count: usize,
        each: usize,
    ) -> Result<ConstMatrices<'m>> {
        expect(self.len, name, count, each)?;
        Ok(ConstMatrices(Span {
            first: self.address as usize,
            step: each.wrapping_mul(size_of::<T>()),
            count,
            memory: PhantomData,
        }))
    }
}

impl<'m, T: Scalar> DeviceSliceMut<'m, T> {
    /// A result.
    ///
    /// # Errors
    /// Its element type is not `T`.
    pub fn of(buffer: &'m mut AnyBufferMut<'_>) -> Result<Self> {
        buffer.expect_dtype(T::DTYPE)?;
        Ok(DeviceSliceMut {
            len: buffer.len(),
            address: buffer.as_mut_ptr(),
            memory: PhantomData,
        })
    }

    /// # Safety
    /// There are `len` elements at `address`, aligned, for as long as `'m` lasts, and no other way
    /// to them.
    pub(crate) unsafe fn from_raw(address: *mut c_void, len: usize) -> Self {
        DeviceSliceMut {
            address,
            len,
            memory: PhantomData,
        }
    }

    /// The same, to be read.
    #[must_use]
    pub fn as_const(&self) -> DeviceSlice<'_, T> {
        DeviceSlice {
            address: self.address,
            len: self.len,
            memory: PhantomData,
        }
    }

    /// The same, for a while.
    #[must_use]
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut {
            address: self.address,
            len: self.len,
            memory: PhantomData,
        }
    }

    /// As [`DeviceSlice::matrices`], to be written.
    ///
    /// # Errors
    /// There are fewer elements.
    pub(crate) fn matrices(
        &mut self,
        name: &str,
        count: usize,
        each: usize,
    ) -> Result<MutMatrices<'_>> {
        expect(self.len, name, count, each)?;
        Ok(MutMatrices(Span {
            first: self.address as usize,
            step: each.wrapping_mul(size_of::<T>()),
            count,
            memory: PhantomData,
        }))
    }
}

fn expect(len: usize, name: &str, count: usize, each: usize) -> Result<()> {
    if count.checked_mul(each).is_some_and(|needed| needed <= len) {
        return Ok(());
    }
    let text = format!("`{name}` must have {each} elements for each of {count} matrices in the device's memory, got {len} in all");
    Err(Error::internal(text))
}

/// Memory whose length has been compared with what is wanted of it.
struct Span<'m> {
    first: usize,
    step: usize,
    count: usize,
    memory: PhantomData<&'m ()>,
}

impl Span<'_> {
    fn at(&self, i: usize) -> usize {
        assert!(i < self.count.max(1), "matrix {i} of {}", self.count);
        self.first.wrapping_add(i.wrapping_mul(self.step))
    }
}

/// Matrices that are read, each of so many elements.
pub(crate) struct ConstMatrices<'m>(Span<'m>);

impl ConstMatrices<'_> {
    /// Where matrix `i` is.
    pub(crate) fn at(&self, i: usize) -> *const c_void {
        self.0.at(i) as *const c_void
    }

    /// Where the first is, for a kernel.
    pub(crate) fn address(&self) -> u64 {
        self.0.first as u64
    }
}

/// Matrices that are written, each of so many elements.
pub(crate) struct MutMatrices<'m>(Span<'m>);

impl MutMatrices<'_> {
    /// Where matrix `i` is.
    pub(crate) fn at(&self, i: usize) -> *mut c_void {
        self.0.at(i) as *mut c_void
    }

    /// Where the first is, for a kernel.
    pub(crate) fn address(&self) -> u64 {
        self.0.first as u64
    }

    /// Bytes from one to the next.
    pub(crate) fn step(&self) -> usize {
        self.0.step
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.0.count
    }
}
