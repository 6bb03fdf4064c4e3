//! QR factorisation.

use crate::platform::lapack::{qr, reduce, Precision};
use crate::platform::Matrices;
use xla_ffi::{io, Arg, Attr, Cx, Error, Host, Kernel, MinRank, Op, Result, Ret};

io! {
    /// `A = Q R`.
    pub struct GeqrfIo<'f, T> {
        /// `(..., m, n)`
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`: `R`, and the reflectors of `Q` below it; shares `x`'s memory
        packed: Ret<'f, T>,
        /// `(..., min(m, n))`
        tau: Ret<'f, T>,
    }
}

super::targets! {
    /// QR factorisation, `Q` as reflectors.
    Geqrf = "geqrf"
}

impl<T: Precision> Kernel<Host, T> for Geqrf<T>
where
    Geqrf<T>: Op,
{
    type Io<'f> = GeqrfIo<'f, T>;

    fn run(mut io: GeqrfIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = Matrices::of(&io.x)?;
        io.tau.expect_batch_dims(batch, &[shape.rank().into()])?;
        io.packed.copy_from(&io.x)?;
        qr::geqrf(
            (cx, shape),
            io.packed.as_mut_slice()?,
            io.tau.as_mut_slice()?,
        )
    }
}

io! {
    /// The columns of `Q`.
    pub struct OrgqrIo<'f, T> {
        /// `(..., m, n)`, `n <= m`: reflectors in the first columns
        x: Arg<'f, T, MinRank<2>>,
        /// `(..., k)`, `k <= n`
        tau: Arg<'f, T, MinRank<1>>,
        /// `(..., m, n)`; shares `x`'s memory
        q: Ret<'f, T>,
    }
}

super::targets! {
    /// The first columns of the `Q` that reflectors make.
    Orgqr = "orgqr", "ungqr"
}

impl<T: Precision> Kernel<Host, T> for Orgqr<T>
where
    Orgqr<T>: Op,
{
    type Io<'f> = OrgqrIo<'f, T>;

    fn run(mut io: OrgqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = Matrices::of(&io.x)?;
        if shape.cols > shape.rows {
            return Err(Error::mismatch(
                io.x.operand(),
                "have at least as many rows as columns",
                format_args!("{} x {}", shape.rows, shape.cols),
            ));
        }
        let k = reflectors(&io.tau, batch, shape.cols)?;
        io.q.copy_from(&io.x)?;
        qr::orgqr((cx, shape), k, io.q.as_mut_slice()?, io.tau.as_slice()?)
    }
}

/// How many reflectors `tau` has per matrix.
fn reflectors<T: Precision>(
    tau: &Arg<'_, T, MinRank<1>>,
    batch: &[i64],
    most: i32,
) -> Result<usize> {
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
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., k)`
        tau: Arg<'f, T, MinRank<1>>,
        /// `(..., m, n)`
        c: Arg<'f, T, MinRank<2>>,
        /// `(..., m, n)`; shares `c`'s memory
        product: Ret<'f, T>,
        /// whether `Q` is to the left of `C`
        left: Attr<bool>,
        /// whether it is `Qᴴ` instead
        transpose: Attr<bool>,
    }
}

super::targets! {
    /// Products with the `Q` that reflectors make.
    Ormqr = "ormqr", "unmqr"
}

impl<T: Precision> Kernel<Host, T> for Ormqr<T>
where
    Ormqr<T>: Op,
{
    type Io<'f> = OrmqrIo<'f, T>;

    fn run(mut io: OrmqrIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, batch) = Matrices::of(&io.c)?;
        let order = if *io.left { shape.rows } else { shape.cols };
        let k = reflectors(&io.tau, batch, order)?;
        let columns = i64::try_from(k).unwrap_or(i64::MAX);
        io.a.expect_batch_dims(batch, &[order.into(), columns])?;
        io.product.copy_from(&io.c)?;
        let reflectors = (io.a.as_slice()?, io.tau.as_slice()?, k);
        let form = (*io.left, *io.transpose);
        reduce::ormqr((cx, shape), form, reflectors, io.product.as_mut_slice()?)
    }
}
