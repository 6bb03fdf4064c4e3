//! Elements in host memory, as R has them.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Order;

/// Elements in host memory, as R has them.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// R double.
    F64(&'a [f64]),
    /// R integer or logical.
    I32(&'a [i32]),
    /// bit64's integer64.
    I64(&'a [i64]),
    /// Small non-negative numbers, one byte each.
    U8(&'a [u8]),
    /// R complex: pairs of real and imaginary part.
    Complex(&'a [[f64; 2]]),
    /// Elements that have the wanted type already, as bytes in the machine's order.
    Bytes(&'a [u8]),
}

/// An array in host memory and what is to become of it on the device.
///
/// Conversion of numbers that the wanted type does not have: reals are truncated towards zero
/// to integers, numbers out of an integer type's range and NaN are refused there; floating-point types
/// round; to `pred`, everything but 0 is true; real numbers get an imaginary part of 0. 64-bit integers to `ui64` keep
/// their bits, since integer64 is what R has for those: -1 is 2⁶⁴ - 1. Complex numbers go to
/// complex types only. R's NA is not known here: `NA_integer_` is the number -2³¹, `NA_real_` a NaN.
#[derive(Clone, Copy, Debug)]
pub struct HostData<'a> {
    /// The elements.
    pub source: Source<'a>,
    /// The array's shape; empty for a scalar.
    pub dims: &'a [i64],
    /// The order of the elements in `source`.
    pub order: Order,
    /// The element type on the device.
    pub dtype: DType,
}

impl Source<'_> {
    /// Number of elements, if they are of type `dtype` in the case of bytes.
    pub(crate) fn len(&self, dtype: DType) -> Result<usize> {
        match self {
            Source::F64(x) => Ok(x.len()),
            Source::I32(x) => Ok(x.len()),
            Source::I64(x) => Ok(x.len()),
            Source::U8(x) => Ok(x.len()),
            Source::Complex(x) => Ok(x.len()),
            Source::Bytes(x) if x.len() % dtype.size() == 0 => Ok(x.len() / dtype.size()),
            Source::Bytes(x) => Err(Error::argument(format!(
                "{} bytes are no whole number of {dtype} elements ({} bytes each)",
                x.len(),
                dtype.size()
            ))),
        }
    }
}

/// Host memory to be filled, as R has it. The memory is only written.
#[derive(Debug)]
pub enum Dest<'a> {
    /// R double.
    F64(&'a mut [f64]),
    /// R integer or logical.
    I32(&'a mut [i32]),
    /// bit64's integer64.
    I64(&'a mut [i64]),
    /// One byte per element.
    U8(&'a mut [u8]),
    /// R complex: pairs of real and imaginary part.
    Complex(&'a mut [[f64; 2]]),
    /// The elements' own bytes, in the machine's order.
    Bytes(&'a mut [u8]),
}

impl Dest<'_> {
    pub(crate) fn len(&self, dtype: DType) -> usize {
        match self {
            Dest::F64(x) => x.len(),
            Dest::I32(x) => x.len(),
            Dest::I64(x) => x.len(),
            Dest::U8(x) => x.len(),
            Dest::Complex(x) => x.len(),
            Dest::Bytes(x) => x.len() / dtype.size(),
        }
    }
}

impl Source<'_> {
    pub(crate) fn as_ptr(&self) -> *const u8 {
        match self {
            Source::F64(x) => x.as_ptr().cast(),
            Source::I32(x) => x.as_ptr().cast(),
            Source::I64(x) => x.as_ptr().cast(),
            Source::U8(x) | Source::Bytes(x) => x.as_ptr(),
            Source::Complex(x) => x.as_ptr().cast(),
        }
    }
}

impl Dest<'_> {
    /// Where the memory starts, and how many bytes it has.
    pub(crate) fn memory(&mut self) -> (*mut u8, usize) {
        match self {
            Dest::F64(x) => (x.as_mut_ptr().cast(), size_of_val(*x)),
            Dest::I32(x) => (x.as_mut_ptr().cast(), size_of_val(*x)),
            Dest::I64(x) => (x.as_mut_ptr().cast(), size_of_val(*x)),
            Dest::U8(x) | Dest::Bytes(x) => (x.as_mut_ptr(), x.len()),
            Dest::Complex(x) => (x.as_mut_ptr().cast(), size_of_val(*x)),
        }
    }
}
