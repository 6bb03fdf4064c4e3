//! Eigenvalues of general matrices.

use super::host;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, AnyBufferMut, Arg, Attr, Cx, Host, Kernel, MinRank, Op, Result, Ret, Scalar};

io! {
    /// `A V = V diag(wr + i wi)`.
    pub struct GeevIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n)`: the real parts of the eigenvalues
        wr: Ret<'f, T>,
        /// `(..., n)`: the imaginary parts; conjugates lie side by side, the positive one first
        wi: Ret<'f, T>,
        /// `(..., n, n)`: the left eigenvectors as columns; complex
        vl: AnyBufferMut<'f>,
        /// `(..., n, n)`: the right eigenvectors as columns; complex
        vr: AnyBufferMut<'f>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// V: with left eigenvectors, N: without
        compute_left: Attr<u8>,
        /// the same for the right ones
        compute_right: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of real general matrices.
    real Geev = "geev"
}

impl<T: HostScalar> Kernel<Host, T> for Geev<T>
where
    Geev<T>: Op,
{
    type Io<'f> = GeevIo<'f, T>;

    fn run(mut io: GeevIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = shape::square(&io.x)?;
        let n = i64::from(shape.rows);
        io.wr.expect_batch_dims(batch, &[n])?;
        io.wi.expect_batch_dims(batch, &[n])?;
        io.info.expect_dims(batch)?;
        let left = letter::with_vectors("compute_left", *io.compute_left)?;
        let right = letter::with_vectors("compute_right", *io.compute_right)?;
        let vectors = (
            wanted::<T::Complex>(left, &mut io.vl, (batch, n))?,
            wanted::<T::Complex>(right, &mut io.vr, (batch, n))?,
        );
        let values = (io.wr.as_mut_slice()?, io.wi.as_mut_slice()?);
        let (x, info) = (io.x.as_slice()?, io.info.as_mut_slice()?);
        host::geev((cx, shape), x, values, vectors, info)
    }
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

io! {
    /// `A V = V diag(w)`.
    pub struct GeevComplexIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n)`: the eigenvalues
        w: Ret<'f, T>,
        /// `(..., n, n)`: the left eigenvectors as columns
        vl: AnyBufferMut<'f>,
        /// `(..., n, n)`: the right eigenvectors as columns
        vr: AnyBufferMut<'f>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// V: with left eigenvectors, N: without
        compute_left: Attr<u8>,
        /// the same for the right ones
        compute_right: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of complex general matrices.
    complex GeevComplex = "geev"
}

impl<T: HostScalar<Complex = T>> Kernel<Host, T> for GeevComplex<T>
where
    GeevComplex<T>: Op,
{
    type Io<'f> = GeevComplexIo<'f, T>;

    fn run(mut io: GeevComplexIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = shape::square(&io.x)?;
        let n = i64::from(shape.rows);
        io.w.expect_batch_dims(batch, &[n])?;
        io.info.expect_dims(batch)?;
        let left = letter::with_vectors("compute_left", *io.compute_left)?;
        let right = letter::with_vectors("compute_right", *io.compute_right)?;
        let vectors = (
            wanted::<T>(left, &mut io.vl, (batch, n))?,
            wanted::<T>(right, &mut io.vr, (batch, n))?,
        );
        let values = (io.w.as_mut_slice()?, &mut [][..]);
        let (x, info) = (io.x.as_slice()?, io.info.as_mut_slice()?);
        host::geev((cx, shape), x, values, vectors, info)
    }
}
