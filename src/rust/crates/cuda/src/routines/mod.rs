//! The routines of NVIDIA's libraries, and kernels of our own for the same, as functions for whole
//! batches. They compare the lengths of memory with the shape before anything is called, and see to
//! the memory that a routine works in. Matrices are column-major, without gaps. Each function's
//! errors: less memory than the shape needs, or a shape that it does not take; a library that is missing or refuses; no memory to
//! work in.

pub mod cholesky;
pub mod eig;
pub mod eigh;
pub mod kepler;
pub mod lu;
pub mod qr;
pub mod special;
pub mod svd;
pub mod tridiagonal;

use crate::Element;
use matrices::Matrices;
use std::ffi::c_void;
use xla_ffi::{Arg, Code, Error, Result};

/// The number of rows of square matrices.
fn order(shape: Matrices) -> Result<i32> {
    if shape.rows == shape.cols {
        return Ok(shape.rows);
    }
    let text = format!(
        "{} x {} matrices for a routine that takes square ones",
        shape.rows, shape.cols
    );
    Err(Error::internal(text))
}

/// f32 and f64, in which functions of numbers are computed element by element.
pub trait Real: Element {}

impl Real for f32 {}
impl Real for f64 {}

/// An argument may have the very memory of one of the results, as each element is read before it is written, but not a
/// part of it.
fn expect_whole<T: Real>(argument: &Arg<'_, T>, results: &[*mut c_void]) -> Result<()> {
    let is_result = || results.iter().any(|&r| r.cast_const() == argument.as_ptr());
    if !argument.is_aliased() || is_result() {
        return Ok(());
    }
    let text = "shares a part of its memory with a result";
    Err(Error::new(Code::FailedPrecondition, text).with_operand(argument.operand()))
}
