//! The orthogonal factor of a QR factorisation.

use super::QrSolver;
use crate::op::op;
use crate::shape;
use matrices::Matrices;
use xla_ffi::{Arg, Cx, Error, Kernel, MinRank, Result, Ret, Scalar};

op! {
    /// `orgqr`: the first columns of `Q` from the reflectors of `geqrf`, for each matrix of a batch. NaN
    /// or an infinity in the reflectors gives NaN.
    Orgqr: OrgqrIo = "orgqr" of RealAndComplex {
        /// `(..., m, n)`, column-major matrices as `geqrf` gives them
        packed: Arg<'f, T, MinRank<2>>,
        /// `(..., k)` as `geqrf` gives it, `k <= min(m, n)`
        tau: Arg<'f, T, MinRank<1>>,
        /// `(..., m, k)`: the columns
        q: Ret<'f, T>,
    }
}

impl<T: Scalar, P: QrSolver<T>> Kernel<P, T> for Orgqr {
    type Io<'f> = OrgqrIo<'f, T>;

    fn run(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (packed, batch) = shape::matrices(&io.packed)?;
        let (_, _, [k]) = io.tau.split_dims()?;
        let Some(cols) = i32::try_from(k).ok().filter(|&k| k <= packed.rank()) else {
            let most = packed.rank();
            return Err(Error::mismatch(
                io.tau.operand(),
                format_args!("have at most min(m, n) = {most} factors"),
                k,
            ));
        };
        io.tau.expect_batch_dims(batch, &[cols.into()])?;
        io.q.expect_batch_dims(batch, &[packed.rows.into(), cols.into()])?;
        let shape = Matrices { cols, ..packed };
        let from = if cols == packed.cols {
            Some(&*io.packed)
        } else {
            P::copy_columns((cx, packed), cols, &io.packed, &mut io.q)?;
            None
        };
        P::orgqr((cx, shape), k, (from, &io.tau), &mut io.q)
    }
}
