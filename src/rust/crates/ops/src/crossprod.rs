//! Products of tall matrices that add up over rows.

use crate::op::op;
use crate::platform::host::batch::{cost_in_lanes, for_each_run};
use crate::platform::host::{xla_error, HostScalar};
use lanes::crossprod::Crossprod as Rows;
use lanes::Unit;
use lapack::filled;
use matrices::Matrices;
use xla_ffi::{Arg, Code, Cx, Error, Host, Kernel, Rank, RemainingArgs, Result, Ret};

op! {
    /// `crossprod`: the product `z = xᵀ diag(w) y` of the transpose of a matrix of many rows and another one, with weights
    /// for the rows. What it gives does not depend on the number of threads. Where `x` and `y` are the same memory, `z` is
    /// symmetric to the last bit.
    Crossprod: CrossprodIo = "crossprod" of Floats {
        /// `(n, p)`
        x: Arg<'f, T, Rank<2>>,
        /// `(n, q)`
        y: Arg<'f, T, Rank<2>>,
        /// `(n)`: the weights `w`; or nothing, which stands for ones
        weights: RemainingArgs<'f>,
        /// `(p, q)`
        z: Ret<'f, T>,
    }
}

/// Parts into which the rows are cut, each with sums of its own, and what a part has at least.
const PARTS: usize = 64;
const LEAST: usize = 2048;

/// What an operation counts where threads are to be woken: they are for products of some hundred microseconds. Loops
/// over blocks of rows, one on each device, have the processors busy.
const WORTH: f64 = 0.1;

impl<T: HostScalar<Real = T> + lanes::Float> Kernel<Host, T> for Crossprod {
    type Io<'f> = CrossprodIo<'f, T>;

    fn run(mut io: CrossprodIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let [n, p] = io.x.dims() else {
            unreachable!("the rank is checked")
        };
        let (n, p) = (*n, *p);
        let q = io.y.dims()[1];
        io.y.expect_dims(&[n, q])?;
        io.z.expect_dims(&[p, q])?;
        let mut weights = None;
        for argument in io.weights {
            let argument = Arg::<T>::new(argument?)?;
            if weights.is_some() {
                return Err(Error::new(
                    Code::InvalidArgument,
                    "more than one argument of weights",
                ));
            }
            argument.expect_dims(&[n])?;
            weights = Some(argument);
        }
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let (x, y) = (io.x.as_slice()?, io.y.as_slice()?);
        let (n, p, q) = (n as usize, p as usize, q as usize);
        let z = io.z.as_mut_slice()?;
        if n * p * q == 0 {
            z.fill(T::ZERO);
            return Ok(());
        }
        // Rows of the longer side are vectors.
        if p > q {
            let mut turned = filled(p * q, T::ZERO).map_err(xla_error)?;
            product(cx, (y, q), (x, p), weights, &mut turned)?;
            for (i, z) in z.chunks_exact_mut(q).enumerate() {
                for (j, z) in z.iter_mut().enumerate() {
                    *z = turned[j * p + i];
                }
            }
            return Ok(());
        }
        product(cx, (x, p), (y, q), weights, z)
    }
}

fn product<T: HostScalar<Real = T> + lanes::Float>(
    cx: &Cx<'_, Host>,
    (x, p): (&[T], usize),
    (y, q): (&[T], usize),
    weights: Option<&[T]>,
    z: &mut [T],
) -> Result<()> {
    let n = x.len() / p;
    let symmetric = x.as_ptr() == y.as_ptr() && p == q;
    let rows = n.div_ceil(PARTS).max(LEAST);
    let count = n.div_ceil(rows);
    let mut sums = filled((count - 1) * p * q, T::ZERO).map_err(xla_error)?;
    let first = std::iter::once(&mut *z);
    let parts = first.chain(sums.chunks_exact_mut(p * q)).enumerate();
    let shape = Matrices {
        count,
        rows: 0,
        cols: 0,
    };
    let cost = WORTH * cost_in_lanes(2.0 * (rows * p * q) as f64, rows * q);
    for_each_run((cx, shape), cost, parts, |(part, z), _| {
        let here = part * rows..n.min((part + 1) * rows);
        let w = weights.map(|w| &w[here.clone()]);
        let x = &x[here.start * p..here.end * p];
        let y = &y[here.start * q..here.end * q];
        let kernel = Rows {
            x,
            p,
            y,
            q,
            w,
            symmetric,
            z,
        };
        if Unit::best().is_some() {
            T::in_lanes(kernel, 1)
        } else {
            kernel.one_by_one();
            Ok(())
        }
    })?;
    for sums in sums.chunks_exact(p * q) {
        for (z, sum) in z.iter_mut().zip(sums) {
            *z = T::of(z.f64() + sum.f64());
        }
    }
    Ok(())
}
