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
        matrices::<T, _>((self.address as usize, self.len), name, count, each)
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
        matrices::<T, _>((self.address as usize, self.len), name, count, each)
    }
}

/// `count` matrices of `each` elements in the `len` elements of a type that begin at `first`.
fn matrices<'m, T, P>(
    (first, len): (usize, usize),
    name: &str,
    count: usize,
    each: usize,
) -> Result<Span<'m, P>> {
    if count.checked_mul(each).is_some_and(|needed| needed <= len) {
        return Ok(Span {
            first,
            step: each.wrapping_mul(size_of::<T>()),
            count,
            memory: PhantomData,
        });
    }
    let text = format!("`{name}` must have {each} elements for each of {count} matrices in the device's memory, got {len} in all");
    Err(Error::internal(text))
}

/// Matrices whose memory's length has been compared with what is wanted of it.
pub(crate) struct Span<'m, P> {
    first: usize,
    step: usize,
    count: usize,
    memory: PhantomData<(&'m (), P)>,
}

/// Matrices that are read, each of so many elements.
pub(crate) type ConstMatrices<'m> = Span<'m, *const c_void>;

/// Matrices that are written, each of so many elements.
pub(crate) type MutMatrices<'m> = Span<'m, *mut c_void>;

impl<P: Pointer> Span<'_, P> {
    /// Where matrix `i` is.
    pub(crate) fn at(&self, i: usize) -> P {
        assert!(i < self.count.max(1), "matrix {i} of {}", self.count);
        P::of(self.first.wrapping_add(i.wrapping_mul(self.step)))
    }

    /// Where the first is, for a kernel.
    pub(crate) fn address(&self) -> u64 {
        self.first as u64
    }

    /// Bytes from one to the next.
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// An address in the device's memory, as the libraries take it.
pub(crate) trait Pointer {
    fn of(address: usize) -> Self;
}

impl Pointer for *const c_void {
    fn of(address: usize) -> Self {
        address as Self
    }
}

impl Pointer for *mut c_void {
    fn of(address: usize) -> Self {
        address as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements somewhere: nobody looks at them.
    fn elements<'m>(len: usize) -> DeviceSliceMut<'m, f64> {
        // SAFETY: nothing here reads or writes what is at the address.
        unsafe { DeviceSliceMut::from_raw(4096 as *mut c_void, len) }
    }

    #[test]
    fn addresses_are_given_for_as_much_as_there_is() {
        let mut memory = elements(12);
        for (count, each) in [(3, 4), (12, 1), (1, 12), (2, 5), (0, 100), (100, 0)] {
            assert!(
                memory.matrices("a", count, each).is_ok(),
                "{count} of {each}"
            );
            assert!(memory.as_const().matrices("a", count, each).is_ok());
        }
        for (count, each) in [(3, 5), (13, 1), (1, 13), (usize::MAX, 2), (2, usize::MAX)] {
            assert!(
                memory.matrices("a", count, each).is_err(),
                "{count} of {each}"
            );
            assert!(memory.as_const().matrices("a", count, each).is_err());
        }
    }

    #[test]
    fn what_is_short_is_named() {
        let error = elements(11)
            .matrices("tau", 3, 4)
            .map(|_| ())
            .expect_err("one is missing");
        assert_eq!(
            error.to_string(),
            "`tau` must have 4 elements for each of 3 matrices in the device's memory, got 11 in all"
        );
    }

    #[test]
    fn matrices_lie_one_behind_the_other() {
        let mut memory = elements(12);
        let matrices = memory.matrices("a", 3, 4).expect("room");
        assert_eq!(
            [0, 1, 2].map(|i| matrices.at(i) as usize),
            [4096, 4128, 4160]
        );
        assert_eq!(
            (matrices.address(), matrices.step(), matrices.count()),
            (4096, 32, 3)
        );
        let read = memory.as_const();
        assert_eq!(read.matrices("a", 3, 4).expect("room").at(2) as usize, 4160);
    }

    /// Of no matrices the first address is still to be had, for kernels that are not launched.
    #[test]
    fn no_matrix_is_given_that_is_not_there() {
        let mut memory = elements(12);
        assert_eq!(
            memory.matrices("a", 0, 4).expect("nothing").at(0) as usize,
            4096
        );
        let matrices = memory.matrices("a", 3, 4).expect("room");
        let beyond = std::panic::AssertUnwindSafe(|| matrices.at(3));
        assert!(std::panic::catch_unwind(beyond).is_err());
    }
}
