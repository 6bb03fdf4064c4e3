//! Singular values.

use super::cuda;
use crate::platform::MemoryAccess;
use crate::shape;
use ::cuda::routines::svd::Parts;
use ::cuda::{Cuda, DeviceSliceMut, Element};
use matrices::{Matrices, Vectors};
use xla_ffi::{
    io, AnyBufferMut, Arg, Attr, Cx, Error, Kernel, MinRank, Op, RealAndComplex, Result, Ret,
    Scalar,
};

io! {
    /// `A = U diag(s) Vᴴ`, or with `transposed` the same of the transposed matrix.
    pub struct GesvdIo<'f, T> {
        /// `(..., m, n)`, `m >= n`; with `transposed` row-major, `m <= n`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: overwritten; shares `x`'s memory
        scratch: Ret<'f, T>,
        /// `(..., min(m, n))`, descending; real
        s: AnyBufferMut<'f>,
        /// `(..., m, m)` or `(..., m, n)`: the left singular vectors as columns; with `transposed`
        /// row-major, the right ones, `(..., n, n)` or `(..., m, n)`
        u: Ret<'f, T>,
        /// `(..., n, n)`: the right singular vectors, conjugated, as rows; with `transposed`
        /// row-major, the left ones, `(..., m, m)`
        vt: Ret<'f, T>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// whether all singular vectors are computed, else the first min(m, n)
        full_matrices: Attr<bool>,
        /// whether singular vectors are computed; else nothing is written to them
        compute_uv: Attr<bool>,
        /// whether `x`, `u` and `vt` are row-major
        transposed: Attr<bool> = false,
    }
}

/// Singular value decomposition by QR iteration.
pub struct Gesvd;

impl Op for Gesvd {
    const TARGET: &'static str = "cusolver_gesvd_ffi";
    type Dtypes = RealAndComplex;
}

impl<T: Element> Kernel<Cuda, T> for Gesvd {
    type Io<'f> = GesvdIo<'f, T>;

    fn run(mut io: GesvdIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
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
        Cuda::copy(cx, &io.x, &mut io.scratch)?;
        let parts = Parts::<T> {
            s: DeviceSliceMut::of(&mut io.s)?,
            u: DeviceSliceMut::of(&mut io.u)?,
            v: DeviceSliceMut::of(&mut io.vt)?,
        };
        let a = DeviceSliceMut::of(&mut io.scratch)?;
        let info = DeviceSliceMut::of(&mut io.info)?;
        cuda::gesvd((cx, shape), vectors, a, parts, info)
    }
}

io! {
    /// `A = U diag(s) Vᴴ`.
    pub struct GesvdjIo<'f, T> {
        /// `(..., m, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: overwritten; shares `x`'s memory
        scratch: Ret<'f, T>,
        /// `(..., min(m, n))`, descending; real
        s: AnyBufferMut<'f>,
        /// `(..., m, m)` or `(..., m, min(m, n))`: the left singular vectors as columns
        u: Ret<'f, T>,
        /// `(..., n, n)` or `(..., n, min(m, n))`: the right singular vectors as columns
        v: Ret<'f, T>,
        /// `(...)`: 0, or not if there is no result
        info: Ret<'f, i32>,
        /// whether all singular vectors are computed, else the first min(m, n)
        full_matrices: Attr<bool>,
        /// whether singular vectors are computed; else they hold anything
        compute_uv: Attr<bool>,
    }
}

/// The operands of a decomposition that gives `V`, checked, and the matrix copied to its result.
fn prepare<T: Element>(
    io: &mut GesvdjIo<'_, T>,
    cx: &Cx<'_, Cuda>,
) -> Result<(Matrices, (bool, bool))> {
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
    Cuda::copy(cx, &io.x, &mut io.scratch)?;
    Ok((shape, (*io.compute_uv, *io.full_matrices)))
}

/// Declares an op with these operands by its routine.
macro_rules! decompositions {
    ($($(#[$meta:meta])* $op:ident = $target:literal by $routine:ident;)*) => {$(
        $(#[$meta])*
        pub struct $op;

        impl Op for $op {
            const TARGET: &'static str = $target;
            type Dtypes = RealAndComplex;
        }

        impl<T: Element> Kernel<Cuda, T> for $op {
            type Io<'f> = GesvdjIo<'f, T>;

            fn run(mut io: GesvdjIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
                let (shape, how) = prepare(&mut io, cx)?;
                let parts = Parts::<T> {
                    s: DeviceSliceMut::of(&mut io.s)?,
                    u: DeviceSliceMut::of(&mut io.u)?,
                    v: DeviceSliceMut::of(&mut io.v)?,
                };
                let a = DeviceSliceMut::of(&mut io.scratch)?;
                let info = DeviceSliceMut::of(&mut io.info)?;
                cuda::$routine((cx, shape), how, a, parts, info)
            }
        }
    )*};
}

decompositions! {
    /// Singular value decomposition by Jacobi's method.
    Gesvdj = "cusolver_gesvdj_ffi" by gesvdj;
    /// Singular value decomposition by polar decomposition.
    Gesvdp = "cusolver_gesvdp_ffi" by gesvdp;
}
