//! R vectors as the host's data. R's memory is column-major and used where it lies.

use extendr_api::prelude::*;
use extendr_api::AsTypedSlice;
use pjrt::{DType, Source};

use crate::failure::{Failure, Outcome};
use crate::pointer::described;

/// The elements of an R vector.
pub enum Vector<'a> {
    /// Logical.
    Logical(&'a [i32]),
    /// Integer.
    Integer(&'a [i32]),
    /// Double.
    Double(&'a [f64]),
    /// bit64's integer64: 64-bit integers in the memory of doubles.
    Integer64(&'a [i64]),
    /// Complex.
    Complex(&'a [[f64; 2]]),
}

impl<'a> Vector<'a> {
    /// Sees an R vector as one of the types that can go to a device.
    pub fn new(data: &'a Robj) -> Outcome<Self> {
        match data.rtype() {
            Rtype::Doubles => {
                let slice: &[f64] = slice(data)?;
                if data.inherits("integer64") {
                    // SAFETY: f64 and i64 have the same size and alignment, and every bit
                    // pattern is a valid i64.
                    let slice = unsafe {
                        std::slice::from_raw_parts(slice.as_ptr().cast::<i64>(), slice.len())
                    };
                    return Ok(Vector::Integer64(slice));
                }
                Ok(Vector::Double(slice))
            }
            Rtype::Integers => Ok(Vector::Integer(slice(data)?)),
            Rtype::Logicals => {
                let slice: &[Rbool] = slice(data)?;
                // SAFETY: an Rbool is a transparent i32.
                let slice = unsafe {
                    std::slice::from_raw_parts(slice.as_ptr().cast::<i32>(), slice.len())
                };
                Ok(Vector::Logical(slice))
            }
            Rtype::Complexes => {
                let slice: &[c64] = slice(data)?;
                const _: () = assert!(size_of::<c64>() == size_of::<[f64; 2]>());
                // SAFETY: a complex number is its real and its imaginary part, in this order.
                let slice = unsafe {
                    std::slice::from_raw_parts(slice.as_ptr().cast::<[f64; 2]>(), slice.len())
                };
                Ok(Vector::Complex(slice))
            }
            _ => Err(Failure::argument(
                "data",
                format!(
                    "`data` must be a vector of numbers, not {}",
                    described(data)
                ),
            )),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Vector::Logical(x) | Vector::Integer(x) => x.len(),
            Vector::Double(x) => x.len(),
            Vector::Integer64(x) => x.len(),
            Vector::Complex(x) => x.len(),
        }
    }

    /// The dtype if the user names none.
    pub fn default_dtype(&self) -> DType {
        match self {
            Vector::Logical(_) => DType::Pred,
            Vector::Integer(_) => DType::I32,
            Vector::Double(_) => DType::F32,
            Vector::Integer64(_) => DType::I64,
            Vector::Complex(_) => DType::C64,
        }
    }

    /// As the host takes it.
    pub fn source(&self) -> Source<'a> {
        match self {
            Vector::Logical(x) | Vector::Integer(x) => Source::I32(x),
            Vector::Double(x) => Source::F64(x),
            Vector::Integer64(x) => Source::I64(x),
            Vector::Complex(x) => Source::Complex(x),
        }
    }

    /// The first element, `count` times.
    pub fn repeat(&self, count: usize) -> Outcome<Filled> {
        Ok(match self {
            Vector::Logical(x) | Vector::Integer(x) => Filled::I32(fill(x[0], count)?),
            Vector::Double(x) => Filled::F64(fill(x[0], count)?),
            Vector::Integer64(x) => Filled::I64(fill(x[0], count)?),
            Vector::Complex(x) => Filled::Complex(fill(x[0], count)?),
        })
    }
}

/// A repeated element.
pub enum Filled {
    /// Integer or logical.
    I32(Vec<i32>),
    /// Double.
    F64(Vec<f64>),
    /// integer64.
    I64(Vec<i64>),
    /// Complex.
    Complex(Vec<[f64; 2]>),
}

impl Filled {
    /// As the host takes it.
    pub fn source(&self) -> Source<'_> {
        match self {
            Filled::I32(x) => Source::I32(x),
            Filled::F64(x) => Source::F64(x),
            Filled::I64(x) => Source::I64(x),
            Filled::Complex(x) => Source::Complex(x),
        }
    }
}

/// `count` times the same value.
pub fn fill<T: Clone>(value: T, count: usize) -> Outcome<Vec<T>> {
    let mut filled = Vec::new();
    filled
        .try_reserve_exact(count)
        .map_err(|_| too_large(count.saturating_mul(size_of::<T>())))?;
    filled.resize(count, value);
    Ok(filled)
}

fn too_large(bytes: usize) -> Failure {
    Failure::new(
        "RESOURCE_EXHAUSTED",
        format!("{bytes} bytes of memory cannot be allocated"),
    )
}

fn slice<'a, T>(data: &'a Robj) -> Outcome<&'a [T]>
where
    Robj: AsTypedSlice<'a, T>,
    T: 'a,
{
    data.as_typed_slice()
        .ok_or_else(|| Failure::argument("data", "`data` cannot be read as a vector"))
}
