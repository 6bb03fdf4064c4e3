//! Eigenvalues of general matrices.

use super::host;
use super::operands::{GeevComplexIo, GeevIo};
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{AnyBufferMut, Arg, Cx, Host, MinRank, Result, Ret, Scalar};

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of real general matrices.
    real Geev: GeevIo = "geev" by geev
}

fn geev<T: HostScalar>(mut io: GeevIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let values = shape::parts_of_values(&io.x, [&mut io.wr, &mut io.wi])?;
    let vectors = [(io.vl, *io.compute_left), (io.vr, *io.compute_right)];
    decompose(cx, &io.x, values, vectors, &mut io.info)
}

/// What is the same for real and complex matrices: `values` as [`host::geev`] has them, and left and
/// right eigenvectors with the letters that say whether they are asked for.
fn decompose<T: HostScalar>(
    cx: &Cx<'_, Host>,
    x: &Arg<'_, T, MinRank<2>>,
    values: (&mut [T], &mut [T]),
    [(mut vl, left), (mut vr, right)]: [(AnyBufferMut<'_>, u8); 2],
    info: &mut Ret<'_, i32>,
) -> Result<()> {
    let (shape, batch) = shape::square(x)?;
    let n = i64::from(shape.rows);
    info.expect_dims(batch)?;
    let left = letter::with_vectors("compute_left", left)?;
    let right = letter::with_vectors("compute_right", right)?;
    let vectors = (
        wanted::<T::Complex>(left, &mut vl, (batch, n))?,
        wanted::<T::Complex>(right, &mut vr, (batch, n))?,
    );
    let (x, info) = (x.as_slice()?, info.as_mut_slice()?);
    host::geev((cx, shape), x, values, vectors, info)
}

/// The elements of the eigenvectors; none if they are not asked for, which makes them zero.
fn wanted<'b, T: Scalar>(
    wanted: bool,
    vectors: &'b mut AnyBufferMut<'_>,
    (batch, n): (&[i64], i64),
) -> Result<&'b mut [T]> {
    if !wanted {
        // Not what lay in that memory before.
        vectors.as_mut_bytes()?.fill(0);
        return Ok(&mut []);
    }
    vectors.expect_dtype(T::DTYPE)?;
    vectors.expect_batch_dims(batch, &[n, n])?;
    vectors.as_mut_slice()
}

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of complex general matrices.
    complex GeevComplex: GeevComplexIo = "geev" by geev_complex
}

fn geev_complex<T: HostScalar>(mut io: GeevComplexIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let values = shape::complex_values(&io.x, &mut io.w)?;
    let vectors = [(io.vl, *io.compute_left), (io.vr, *io.compute_right)];
    decompose(cx, &io.x, values, vectors, &mut io.info)
}
