//! The operands of jaxlib's targets.

use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, Arg, Attr, Error, MinRank, Result, Ret, Scalar};

io! {
    /// `A = Q R`.
    pub struct GeqrfIo<'f, T> {
        /// `(..., m, n)`
        pub(crate) x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `R`, and the reflectors of `Q` below it; shares `x`'s memory
        pub(crate) packed: Ret<'f, T>,
        /// `(..., min(m, n))`
        pub(crate) tau: Ret<'f, T>,
    }
}

io! {
    /// The columns of `Q`.
    pub struct OrgqrIo<'f, T> {
        /// `(..., m, n)`, `n <= m`: reflectors in the first columns
        pub(crate) x: Arg<'f, T, MinRank<2>>,
        /// `(..., k)`, `k <= n`
        pub(crate) tau: Arg<'f, T, MinRank<1>>,
        /// `(..., m, n)`; shares `x`'s memory
        pub(crate) q: Ret<'f, T>,
    }
}

io! {
    /// Products with `Q`.
    pub struct OrmqrIo<'f, T> {
        /// `(..., m, k)` (left) or `(..., n, k)` (right): reflectors
        pub(crate) a: Arg<'f, T, MinRank<2>>,
        /// `(..., k)`
        pub(crate) tau: Arg<'f, T, MinRank<1>>,
        /// `(..., m, n)`
        pub(crate) c: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`; shares `c`'s memory
        pub(crate) product: Ret<'f, T>,
        /// whether `Q` is to the left of `C`
        pub(crate) left: Attr<bool>,
        /// whether it is `Qᴴ` instead
        pub(crate) transpose: Attr<bool>,
    }
}

impl<T: Scalar> GeqrfIo<'_, T> {
    /// The matrices, once the results are found to have their shapes.
    pub(crate) fn shape(&self) -> Result<Matrices> {
        let (shape, batch) = shape::matrices(&self.x)?;
        self.tau.expect_batch_dims(batch, &[shape.rank().into()])?;
        Ok(shape)
    }
}

impl<T: Scalar> OrgqrIo<'_, T> {
    /// The matrices and their numbers of reflectors.
    pub(crate) fn shape(&self) -> Result<(Matrices, usize)> {
        let (shape, batch) = shape::matrices(&self.x)?;
        if shape.cols > shape.rows {
            return Err(Error::mismatch(
                self.x.operand(),
                "have at least as many rows as columns",
                format_args!("{} x {}", shape.rows, shape.cols),
            ));
        }
        Ok((shape, reflectors(&self.tau, batch, shape.cols)?))
    }
}

impl<T: Scalar> OrmqrIo<'_, T> {
    /// The matrices of `c` and the numbers of reflectors.
    pub(crate) fn shape(&self) -> Result<(Matrices, usize)> {
        let (shape, batch) = shape::matrices(&self.c)?;
        let order = if *self.left { shape.rows } else { shape.cols };
        let k = reflectors(&self.tau, batch, order)?;
        let columns = i64::try_from(k).unwrap_or(i64::MAX);
        self.a.expect_batch_dims(batch, &[order.into(), columns])?;
        Ok((shape, k))
    }
}

/// How many reflectors `tau` has per matrix.
fn reflectors<T: Scalar>(tau: &Arg<'_, T, MinRank<1>>, batch: &[i64], most: i32) -> Result<usize> {
    let (_, _, [k]) = tau.split_dims()?;
    let Some(count) = i64::try_from(k).ok().filter(|&k| k <= most.into()) else {
        return Err(Error::mismatch(
            tau.operand(),
            format_args!("have at most {most} factors"),
            k,
        ));
    };
    tau.expect_batch_dims(batch, &[count])?;
    Ok(k)
}

io! {
    /// `A P = Q R`.
    pub struct Geqp3Io<'f, T> {
        /// `(..., m, n)`
        pub(super) x: Arg<'f, T, MinRank<2>>,
        /// `(..., n)`: not 0 for the columns that come first
        pub(super) jpvt: Arg<'f, i32, MinRank<1>>,
        /// `(..., m, n)`: `R`, and the reflectors of `Q` below it; shares `x`'s memory
        pub(super) packed: Ret<'f, T>,
        /// `(..., n)`: the columns of `A` in the order of `A P`, counted from 1; shares `jpvt`'s
        /// memory
        pub(super) columns: Ret<'f, i32>,
        /// `(..., min(m, n))`
        pub(super) tau: Ret<'f, T>,
    }
}
