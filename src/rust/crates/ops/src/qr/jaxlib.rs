//! QR factorisation.

use super::host;
use crate::platform::host::{Changed, HostScalar};
use crate::shape;
use matrices::Matrices;
use xla_ffi::{io, Arg, Attr, Cx, Error, Host, MinRank, Result, Ret, Scalar};

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

impl<T: Scalar> GeqrfIo<'_, T> {
    /// The matrices, once the results are found to have their shapes.
    pub(crate) fn shape(&self) -> Result<Matrices> {
        let (shape, batch) = shape::matrices(&self.x)?;
        self.tau.expect_batch_dims(batch, &[shape.rank().into()])?;
        Ok(shape)
    }
}

crate::jaxlib::targets! {
    /// QR factorisation, `Q` as reflectors.
    Geqrf: GeqrfIo = "geqrf" by geqrf
}

fn geqrf<T: HostScalar>(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let shape = io.shape()?;
    let packed = Changed::new(&io.x, &mut io.packed)?;
    host::geqrf((cx, shape), packed, io.tau.as_mut_slice()?)
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

crate::jaxlib::targets! {
    /// The first columns of the `Q` that reflectors make.
    Orgqr: OrgqrIo = "orgqr", "ungqr" by orgqr
}

fn orgqr<T: HostScalar>(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, k) = io.shape()?;
    let q = Changed::new(&io.x, &mut io.q)?;
    host::orgqr((cx, shape), k, q, io.tau.as_slice()?)
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

crate::jaxlib::targets! {
    /// Products with the `Q` that reflectors make.
    Ormqr: OrmqrIo = "ormqr", "unmqr" by ormqr
}

fn ormqr<T: HostScalar>(mut io: OrmqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let (shape, k) = io.shape()?;
    io.product.copy_from(&io.c)?;
    let reflectors = (io.a.as_slice()?, io.tau.as_slice()?, k);
    let form = (*io.left, *io.transpose);
    host::ormqr((cx, shape), form, reflectors, io.product.as_mut_slice()?)
}
