//! Singular values.

use super::cuda;
use super::operands::{GesvdIo, GesvdjIo};
use crate::cusolver::copied;
use crate::shape;
use ::cuda::routines::svd::Operands;
use ::cuda::{Batch, Cuda, DeviceSliceMut, Element};
use matrices::Vectors;
use xla_ffi::{Cx, Error, Result, Scalar};

crate::cusolver::target! {
    /// Singular value decomposition by QR iteration.
    Gesvd: GesvdIo = "cusolver_gesvd_ffi" by gesvd
}

fn gesvd<T: Element>(mut io: GesvdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let (given, batch) = shape::matrices(&io.x)?;
    let transposed = *io.transposed;
    let shape = if transposed {
        given.transposed()
    } else {
        given
    };
    if shape.cols > shape.rows {
        let expected = if transposed {
            "have at most as many rows as columns, being transposed"
        } else {
            "have at least as many rows as columns"
        };
        return Err(Error::mismatch(
            io.x.operand(),
            expected,
            format_args!("{} x {}", given.rows, given.cols),
        ));
    }
    let (m, n) = (i64::from(shape.rows), i64::from(shape.cols));
    io.s.expect_dtype(T::Real::DTYPE)?;
    io.s.expect_batch_dims(batch, &[n])?;
    io.info.expect_dims(batch)?;
    let vectors = match (*io.compute_uv, *io.full_matrices) {
        (false, _) => Vectors::No,
        (true, true) => Vectors::Full,
        (true, false) => Vectors::Thin,
    };
    if vectors != Vectors::No {
        let columns = if *io.full_matrices { m } else { n };
        let of_u = if transposed {
            [columns, m]
        } else {
            [m, columns]
        };
        io.u.expect_batch_dims(batch, &of_u)?;
        io.vt.expect_batch_dims(batch, &[n, n])?;
    }
    let parts = cuda::parts::<T>(&mut io.s, &mut io.u, &mut io.vt)?;
    let a = copied::<T>(cx, &io.x, &mut io.scratch)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    cuda::gesvd((cx, shape), vectors, Operands { a, parts, info })
}

crate::cusolver::target! {
    /// Singular value decomposition by Jacobi's method.
    Gesvdj: GesvdjIo = "cusolver_gesvdj_ffi" by |io, cx| with_v(io, cx, cuda::gesvdj)
}

crate::cusolver::target! {
    /// Singular value decomposition by polar decomposition.
    Gesvdp: GesvdjIo = "cusolver_gesvdp_ffi" by |io, cx| with_v(io, cx, cuda::gesvdp)
}

/// A decomposition that gives `V`, by that routine.
fn with_v<T: Element>(
    mut io: GesvdjIo<'_, T>,
    cx: &Cx<'_, Cuda>,
    routine: impl FnOnce(Batch<'_, '_>, (bool, bool), Operands<'_, T>) -> Result<()>,
) -> Result<()> {
    let (shape, batch) = shape::matrices(&io.x)?;
    let kind = if *io.full_matrices {
        Vectors::Full
    } else {
        Vectors::Thin
    };
    let (columns, rows) = kind.counts(shape.rows, shape.cols);
    io.s.expect_dtype(T::Real::DTYPE)?;
    io.s.expect_batch_dims(batch, &[shape.rank().into()])?;
    io.u.expect_batch_dims(batch, &[shape.rows.into(), columns.into()])?;
    io.v.expect_batch_dims(batch, &[shape.cols.into(), rows.into()])?;
    io.info.expect_dims(batch)?;
    let parts = cuda::parts(&mut io.s, &mut io.u, &mut io.v)?;
    let a = copied::<T>(cx, &io.x, &mut io.scratch)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    let how = (*io.compute_uv, *io.full_matrices);
    routine((cx, shape), how, Operands { a, parts, info })
}
