//! Schur form.

use super::host;
use super::operands::{GeesComplexIo, GeesIo};
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use xla_ffi::{Arg, Cx, Host, MinRank, Result, Ret};

crate::jaxlib::targets! {
    /// Schur form of real matrices.
    real Gees: GeesIo = "gees" by gees
}

fn gees<T: HostScalar>(mut io: GeesIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let values = shape::parts_of_values(&io.x, [&mut io.wr, &mut io.wi])?;
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
    let values = shape::complex_values(&io.x, &mut io.w)?;
    let how = (*io.mode, *io.sort);
    decompose(cx, &io.x, how, values, (io.t, io.z), (io.selected, io.info))
}
