//! Schur form.

use super::host;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, Arg, Attr, Cx, Host, Kernel, MinRank, Op, Result, Ret};

io! {
    /// `A = Z T Zᴴ`.
    pub struct GeesIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: triangular but for blocks of two rows, one for each conjugate pair of
        /// eigenvalues; shares `x`'s memory
        t: Ret<'f, T>,
        /// `(..., n, n)`: the Schur vectors as columns
        z: Ret<'f, T>,
        /// `(..., n)`: the real parts of the eigenvalues
        wr: Ret<'f, T>,
        /// `(..., n)`: the imaginary parts
        wi: Ret<'f, T>,
        /// `(...)`: the number of eigenvalues that sorting selected, 0
        selected: Ret<'f, i32>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// V: with Schur vectors, N: without
        mode: Attr<u8>,
        /// N: the eigenvalues are not sorted
        sort: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Schur form of real matrices.
    real Gees = "gees"
}

impl<T: HostScalar> Kernel<Host, T> for Gees<T>
where
    Gees<T>: Op,
{
    type Io<'f> = GeesIo<'f, T>;

    fn run(mut io: GeesIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = shape::square(&io.x)?;
        let n = i64::from(shape.rows);
        let vectors = letter::with_vectors("mode", *io.mode)?;
        letter::unsorted("sort", *io.sort)?;
        io.wr.expect_batch_dims(batch, &[n])?;
        io.wi.expect_batch_dims(batch, &[n])?;
        io.selected.expect_dims(batch)?;
        io.info.expect_dims(batch)?;
        let z = wanted(vectors, &mut io.z, io.x.dims())?;
        io.t.copy_from(&io.x)?;
        io.selected.as_mut_slice()?.fill(0);
        let values = (io.wr.as_mut_slice()?, io.wi.as_mut_slice()?);
        let (t, info) = (io.t.as_mut_slice()?, io.info.as_mut_slice()?);
        host::gees((cx, shape), t, z, values, info)
    }
}

/// The elements of the Schur vectors; none if they are not asked for, which makes them zero.
fn wanted<'b, T: HostScalar>(
    wanted: bool,
    vectors: &'b mut Ret<'_, T>,
    dims: &[i64],
) -> Result<&'b mut [T]> {
    if !wanted {
        // Not what lay in that memory before.
        vectors.as_mut_slice()?.fill(T::ZERO);
        return Ok(&mut []);
    }
    vectors.expect_dims(dims)?;
    vectors.as_mut_slice()
}

io! {
    /// `A = Z T Zᴴ`.
    pub struct GeesComplexIo<'f, T> {
        /// `(..., n, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: triangular; shares `x`'s memory
        t: Ret<'f, T>,
        /// `(..., n, n)`: the Schur vectors as columns
        z: Ret<'f, T>,
        /// `(..., n)`: the eigenvalues
        w: Ret<'f, T>,
        /// `(...)`: the number of eigenvalues that sorting selected, 0
        selected: Ret<'f, i32>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// V: with Schur vectors, N: without
        mode: Attr<u8>,
        /// N: the eigenvalues are not sorted
        sort: Attr<u8>,
    }
}

crate::jaxlib::targets! {
    /// Schur form of complex matrices.
    complex GeesComplex = "gees"
}

impl<T: HostScalar> Kernel<Host, T> for GeesComplex<T>
where
    GeesComplex<T>: Op,
{
    type Io<'f> = GeesComplexIo<'f, T>;

    fn run(mut io: GeesComplexIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = shape::square(&io.x)?;
        let vectors = letter::with_vectors("mode", *io.mode)?;
        letter::unsorted("sort", *io.sort)?;
        io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
        io.selected.expect_dims(batch)?;
        io.info.expect_dims(batch)?;
        let z = wanted(vectors, &mut io.z, io.x.dims())?;
        io.t.copy_from(&io.x)?;
        io.selected.as_mut_slice()?.fill(0);
        let values = (io.w.as_mut_slice()?, &mut [][..]);
        let (t, info) = (io.t.as_mut_slice()?, io.info.as_mut_slice()?);
        host::gees((cx, shape), t, z, values, info)
    }
}
