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

use matrices::Matrices;
use xla_ffi::{Error, Result};

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
