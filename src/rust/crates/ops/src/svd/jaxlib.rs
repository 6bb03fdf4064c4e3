//! Singular values.

use super::host;
use super::host_gesvd;
use super::operands::SvdIo;
use crate::letter;
use crate::platform::host::HostScalar;
use crate::shape;
use matrices::Vectors;
use xla_ffi::{Cx, Host, Result, Scalar};

crate::jaxlib::targets! {
    /// Singular value decomposition by divide and conquer.
    Gesdd: SvdIo = "gesdd" by |io, cx| svd(io, cx, host::gesdd)
}

crate::jaxlib::targets! {
    /// Singular value decomposition by the QR algorithm.
    Gesvd: SvdIo = "gesvd" by |io, cx| svd(io, cx, host_gesvd::gesvd)
}

/// Checks the operands and has the routine do the rest.
fn svd<T: HostScalar>(
    mut io: SvdIo<'_, T>,
    cx: &Cx<'_, Host>,
    routine: host::Routine<T>,
) -> Result<()> {
    let (shape, batch) = shape::matrices(&io.x)?;
    let vectors = letter::vectors("mode", *io.mode)?;
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    io.s.expect_dtype(T::Real::DTYPE)?;
    io.s.expect_batch_dims(batch, &[shape.rank().into()])?;
    io.info.expect_dims(batch)?;
    let (u, vt) = if vectors == Vectors::No {
        // Not what lay in that memory before.
        io.u.as_mut_slice()?.fill(T::ZERO);
        io.vt.as_mut_slice()?.fill(T::ZERO);
        (&mut [][..], &mut [][..])
    } else {
        io.u.expect_batch_dims(batch, &[shape.rows.into(), columns.into()])?;
        io.vt
            .expect_batch_dims(batch, &[rows.into(), shape.cols.into()])?;
        (io.u.as_mut_slice()?, io.vt.as_mut_slice()?)
    };
    io.scratch.copy_from(&io.x)?;
    let results = (io.s.as_mut_slice()?, u, vt);
    let (a, info) = (io.scratch.as_mut_slice()?, io.info.as_mut_slice()?);
    routine((cx, shape), vectors, a, results, info)
}
