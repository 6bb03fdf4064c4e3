//! R vectors as the host's data. R's memory is column-major and used where it lies.

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{
    R_NaReal, Rf_xlength, COMPLEX, INTEGER, LOGICAL, RAW, REAL, SEXP, SEXPTYPE, TYPEOF,
};
use pjrt::{DType, Source};

use crate::r::failure::{Failure, Outcome};
use crate::r::object::{described, inherits};
use crate::r::unwind::protect;

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
        // SAFETY: each type with the function that gives the memory of its elements.
        unsafe {
            Ok(match TYPEOF(data.get()) {
                SEXPTYPE::LGLSXP => Vector::Logical(slice(data, |data| LOGICAL(data))),
                SEXPTYPE::INTSXP => Vector::Integer(slice(data, |data| INTEGER(data))),
                // f64 and i64 have the same size and alignment, and every bit pattern is an i64.
                SEXPTYPE::REALSXP if inherits(data, "integer64") => {
                    Vector::Integer64(slice(data, |data| REAL(data).cast()))
                }
                SEXPTYPE::REALSXP => Vector::Double(slice(data, |data| REAL(data))),
                // A complex number is its real and its imaginary part, in this order.
                SEXPTYPE::CPLXSXP => Vector::Complex(slice(data, |data| COMPLEX(data).cast())),
                _ => return Err(no_numbers(data)),
            })
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

    /// Whether an element is NA and `dtype` has no NaN for it.
    pub fn has_na(&self, dtype: DType) -> bool {
        !dtype.has_nan() && self.has_least()
    }

    /// Whether an element is NA where there are no NaN: the least number, which is one for XLA.
    fn has_least(&self) -> bool {
        match self {
            Vector::Logical(x) | Vector::Integer(x) => contains(x, i32::MIN),
            Vector::Integer64(x) => contains(x, i64::MIN),
            Vector::Double(_) | Vector::Complex(_) => false,
        }
    }

    /// What goes to an array of `dtype`: where that has NaN and some elements are NA these are NA of doubles, and all are
    /// in `doubles`.
    pub fn with_nan(self, dtype: DType, doubles: &'a mut Vec<f64>) -> Outcome<Self> {
        if !dtype.has_nan() || !self.has_least() {
            return Ok(self);
        }
        // SAFETY: R sets it when it starts.
        let na = unsafe { R_NaReal };
        *doubles = reserved(self.len())?;
        match self {
            Vector::Logical(x) | Vector::Integer(x) => {
                doubles.extend(
                    x.iter()
                        .map(|&x| if x == i32::MIN { na } else { f64::from(x) }),
                );
            }
            Vector::Integer64(x) => {
                doubles.extend(x.iter().map(|&x| if x == i64::MIN { na } else { x as f64 }));
            }
            Vector::Double(_) | Vector::Complex(_) => return Ok(self),
        }
        Ok(Vector::Double(doubles))
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

/// As `x.contains()`, at the speed of memory: the loop between two decisions has no exit, so that it becomes one over
/// vectors.
fn contains<T: Copy + PartialEq>(x: &[T], number: T) -> bool {
    const STRIDE: usize = 1024;
    x.chunks(STRIDE)
        .any(|part| part.iter().fold(false, |any, &x| any | (x == number)))
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
    let mut filled = reserved(count)?;
    filled.resize(count, value);
    Ok(filled)
}

/// An empty vector with room for `count` elements.
fn reserved<T>(count: usize) -> Outcome<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count)
        .map_err(|_| too_large(count.saturating_mul(size_of::<T>())))?;
    Ok(room)
}

fn too_large(bytes: usize) -> Failure {
    Failure::new(
        "RESOURCE_EXHAUSTED",
        format!("{bytes} bytes of memory cannot be allocated"),
    )
}

fn no_numbers(data: &Robj) -> Failure {
    Failure::argument(
        "data",
        format!(
            "`data` must be a vector of numbers, not {}",
            described(data)
        ),
    )
}

/// The bytes of a raw vector.
pub fn bytes(data: &Robj) -> Option<&[u8]> {
    // SAFETY: the type is checked.
    unsafe { (TYPEOF(data.get()) == SEXPTYPE::RAWSXP).then(|| slice(data, |data| RAW(data))) }
}

/// The length of a vector.
pub fn length(data: &Robj) -> usize {
    // SAFETY: an R object that the caller protects.
    unsafe { Rf_xlength(data.get()) as usize }
}

/// The elements of an R vector. Some vectors get memory when they are asked for it (`1:n`), so that
/// R may jump.
///
/// # Safety
/// `memory` is R's function for the type of `data`; its elements may be read as `T`.
pub unsafe fn slice<T>(data: &Robj, memory: impl FnOnce(SEXP) -> *mut T + Copy) -> &[T] {
    let length = length(data);
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise; the vector keeps its memory as long as it lives.
    unsafe {
        let sexp = data.get();
        std::slice::from_raw_parts(protect(|| memory(sexp)), length)
    }
}
