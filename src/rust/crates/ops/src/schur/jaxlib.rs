//! Schur form.

use super::host;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{io, Arg, Attr, Cx, Host, MinRank, Result, Ret};

/// Real matrices have the eigenvalues in two parts.
macro_rules! gees_io {
    ($name:ident, $($(#[doc = $doc:literal])* $w:ident),*) => {
        io! {
            /// `A = Z T Zᴴ`.
            pub struct $name<'f, T> {
                /// `(..., n, n)`
                x: Arg<'f, T, MinRank<2>>,
                /// `(..., n, n)`: triangular, of real matrices but for blocks of two rows, one for each
                /// conjugate pair of eigenvalues; shares `x`'s memory
                t: Ret<'f, T>,
                /// `(..., n, n)`: the Schur vectors as columns
                z: Ret<'f, T>,
                $($(#[doc = $doc])* $w: Ret<'f, T>,)*
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
    };
}

gees_io! {
    GeesIo,
    /// `(..., n)`: the real parts of the eigenvalues
    wr,
    /// `(..., n)`: the imaginary parts
    wi
}

gees_io! {
    GeesComplexIo,
    /// `(..., n)`: the eigenvalues
    w
}

crate::jaxlib::targets! {
    /// Schur form of real matrices.
    real Gees: GeesIo = "gees" by gees
}

fn gees<T: HostScalar>(mut io: GeesIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    io.wr.expect_batch_dims(batch, &[shape.rows.into()])?;
    io.wi.expect_batch_dims(batch, &[shape.rows.into()])?;
    let values = (io.wr.as_mut_slice()?, io.wi.as_mut_slice()?);
    let how = (*io.mode, *io.sort);
    decompose(cx, &io.x, how, values, (io.t, io.z), (io.selected, io.info))
}

/// What is the same for real and complex matrices; `values` as [`host::gees`] has them.
fn decompose<T: HostScalar>(
    cx: &Cx<'_, Host>,
    x: &Arg<'_, T, MinRank<2>>,
    (mode, sort): (u8, u8),
    values: (&mut [T], &mut [T]),
    (mut t, mut z): (Ret<'_, T>, Ret<'_, T>),
    (mut selected, mut info): (Ret<'_, i32>, Ret<'_, i32>),
) -> Result<()> {
    let (shape, batch) = shape::square(x)?;
    let vectors = letter::with_vectors("mode", mode)?;
    letter::unsorted("sort", sort)?;
    selected.expect_dims(batch)?;
    info.expect_dims(batch)?;
    let z = wanted(vectors, &mut z, x.dims())?;
    t.copy_from(x)?;
    selected.as_mut_slice()?.fill(0);
    let (t, info) = (t.as_mut_slice()?, info.as_mut_slice()?);
    host::gees((cx, shape), t, z, values, info)
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

crate::jaxlib::targets! {
    /// Schur form of complex matrices.
    complex GeesComplex: GeesComplexIo = "gees" by gees_complex
}

fn gees_complex<T: HostScalar>(mut io: GeesComplexIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, batch) = shape::square(&io.x)?;
    io.w.expect_batch_dims(batch, &[shape.rows.into()])?;
    let values = (io.w.as_mut_slice()?, &mut [][..]);
    let how = (*io.mode, *io.sort);
    decompose(cx, &io.x, how, values, (io.t, io.z), (io.selected, io.info))
}
