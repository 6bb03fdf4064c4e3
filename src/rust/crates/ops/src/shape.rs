//! Matrices in a call's buffers.

use matrices::Matrices;
use xla_ffi::{AnyBuffer, Error, Result, Ret, Scalar};

/// The matrices that `buffer` holds in its last two dimensions, and its batch dimensions.
///
/// # Errors
/// The rank is below 2; the solvers' 32-bit integers cannot hold a dimension.
// Inlined: handed back through memory, rows and columns would be stored one by one and loaded as one
// word, which waits for both.
#[inline(always)]
pub fn matrices<'f>(buffer: &AnyBuffer<'f>) -> Result<(Matrices, &'f [i64])> {
    let (batch, count, [rows, cols]) = buffer.split_dims()?;
    let (Ok(rows), Ok(cols)) = (i32::try_from(rows), i32::try_from(cols)) else {
        return Err(Error::mismatch(
            buffer.operand(),
            format_args!("have at most {} rows and columns", i32::MAX),
            format_args!("{rows} x {cols}"),
        ));
    };
    Ok((Matrices { count, rows, cols }, batch))
}

/// The same of square matrices.
///
/// # Errors
/// As [`matrices`]; the matrices are not square.
pub fn square<'f>(buffer: &AnyBuffer<'f>) -> Result<(Matrices, &'f [i64])> {
    let (shape, batch) = matrices(buffer)?;
    if shape.rows == shape.cols {
        return Ok((shape, batch));
    }
    Err(Error::mismatch(
        buffer.operand(),
        "be square",
        format_args!("{} x {}", shape.rows, shape.cols),
    ))
}

/// Complex eigenvalues, and no imaginary parts beside them, of which there is one for each row of the square matrices in
/// `x`.
///
/// # Errors
/// Shapes are others than these.
pub fn complex_values<'b, T: Scalar>(
    x: &AnyBuffer<'_>,
    values: &'b mut Ret<'_, T>,
) -> Result<(&'b mut [T], &'b mut [T])> {
    let (shape, batch) = square(x)?;
    values.expect_batch_dims(batch, &[shape.rows.into()])?;
    Ok((values.as_mut_slice()?, &mut []))
}

/// Real and imaginary parts of eigenvalues, of which there is one for each row of the square matrices in `x`.
///
/// # Errors
/// Shapes are others than these.
pub fn parts_of_values<'b, T: Scalar>(
    x: &AnyBuffer<'_>,
    [re, im]: [&'b mut Ret<'_, T>; 2],
) -> Result<(&'b mut [T], &'b mut [T])> {
    let (shape, batch) = square(x)?;
    re.expect_batch_dims(batch, &[shape.rows.into()])?;
    im.expect_batch_dims(batch, &[shape.rows.into()])?;
    Ok((re.as_mut_slice()?, im.as_mut_slice()?))
}
