//! Products of tall matrices that add up over rows.

use crate::op::op;
use crate::platform::host::batch::{cost_in_lanes, for_each_run};
use crate::platform::host::{xla_error, HostScalar};
use lanes::crossprod::{Crossprod as Rows, Product};
use lanes::Unit;
use lapack::filled;
use matrices::Matrices;
use xla_ffi::{
    Arg, Code, Cx, Error, Host, Kernel, Rank, RemainingArgs, RemainingRets, Result, Ret,
};

op! {
    /// `crossprod`: the product `z = xᵀ diag(w) y` of the transpose of a matrix of many rows and another one, with weights
    /// for the rows; and further ones of matrices with as many rows, so that a matrix of several products is read once.
    /// What it gives does not depend on the number of threads. Where `x` and `y` are the same memory, `z` is symmetric to
    /// the last bit.
    Crossprod: CrossprodIo = "crossprod" of Floats {
        /// `(n, p)`
        x: Arg<'f, T, Rank<2>>,
        /// `(n, q)`
        y: Arg<'f, T, Rank<2>>,
        /// `(n)`: the weights `w`; or nothing, which stands for ones. Then `x`, `y` and perhaps `w` of each further product
        more: RemainingArgs<'f>,
        /// `(p, q)`
        z: Ret<'f, T>,
        /// of each further product
        others: RemainingRets<'f>,
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

    fn run(io: CrossprodIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let rows = io.x.dims()[0];
        let mut products = vec![Operands::new(io.x, io.y, rows)?];
        let mut more = io.more;
        while let Some(argument) = more.next() {
            let argument = argument?;
            let last = products.last_mut().filter(|last| last.w.is_none());
            match (argument.dims().len(), last) {
                (1, Some(last)) => {
                    let w = Arg::<T>::new(argument)?;
                    w.expect_dims(&[rows])?;
                    last.w = Some(w);
                }
                (1, None) => return Err(invalid("more than one argument of weights")),
                _ => {
                    let y = more
                        .next()
                        .ok_or_else(|| invalid("a product without `y`"))?;
                    let (x, y) = (Arg::new(argument)?, Arg::new(y?)?);
                    products.push(Operands::new(x, y, rows)?);
                }
            }
        }
        if io.others.len() + 1 != products.len() {
            return Err(invalid("as many products as results are expected"));
        }
        let others = io.others.map(|other| Ret::<T>::new(other?));
        let results = std::iter::once(Ok(io.z)).chain(others);
        let mut results = results.collect::<Result<Vec<_>>>()?;
        for (product, z) in products.iter().zip(&results) {
            z.expect_dims(&[product.x.dims()[1], product.y.dims()[1]])?;
        }
        let mut sides = Vec::new();
        for (product, z) in products.iter().zip(&mut results) {
            sides.extend(product.sides(z.as_mut_slice()?)?);
        }
        added_up(cx, rows as usize, &mut sides)
    }
}

fn invalid(message: &'static str) -> Error {
    Error::new(Code::InvalidArgument, message)
}

/// A product as it is asked for.
struct Operands<'f, T> {
    x: Arg<'f, T, Rank<2>>,
    y: Arg<'f, T, Rank<2>>,
    w: Option<Arg<'f, T>>,
}

impl<'f, T: HostScalar> Operands<'f, T> {
    fn new(x: Arg<'f, T, Rank<2>>, y: Arg<'f, T, Rank<2>>, rows: i64) -> Result<Self> {
        x.expect_dims(&[rows, x.dims()[1]])?;
        y.expect_dims(&[rows, y.dims()[1]])?;
        Ok(Self { x, y, w: None })
    }

    /// What there is to add up, with the longer side's rows as vectors; nothing where a side is empty.
    fn sides<'a>(&'a self, z: &'a mut [T]) -> Result<Option<Sides<'a, T>>> {
        let x = (self.x.as_slice()?, self.x.dims()[1] as usize);
        let y = (self.y.as_slice()?, self.y.dims()[1] as usize);
        if x.0.is_empty() || z.is_empty() {
            z.fill(T::ZERO);
            return Ok(None);
        }
        let turned = x.1 > y.1;
        let (x, y) = if turned { (y, x) } else { (x, y) };
        let w = self.w.as_ref().map(|w| w.as_slice()).transpose()?;
        Ok(Some(Sides { x, y, w, z, turned }))
    }
}

struct Sides<'a, T> {
    x: (&'a [T], usize),
    y: (&'a [T], usize),
    w: Option<&'a [T]>,
    z: &'a mut [T],
    /// Whether the result is transposed.
    turned: bool,
}

impl<T: HostScalar + lanes::Float> Sides<'_, T> {
    /// Some of the rows, and where their sums go.
    fn rows<'a>(&'a self, from: usize, to: usize, z: &'a mut [T]) -> Product<'a, T> {
        let ((x, p), (y, q)) = (self.x, self.y);
        Product {
            x: &x[from * p..to * p],
            p,
            y: &y[from * q..to * q],
            q,
            w: self.w.map(|w| &w[from..to]),
            symmetric: x.as_ptr() == y.as_ptr() && p == q,
            z,
        }
    }

    /// Adds the sums of a part to the result, which is those of the first one before.
    fn add(&mut self, part: usize, sums: &[T]) {
        let (p, q) = (self.x.1, self.y.1);
        for (e, sum) in sums.iter().enumerate() {
            let (i, j) = (e / q, e % q);
            let z = &mut self.z[if self.turned { j * p + i } else { e }];
            *z = if part == 0 {
                *sum
            } else {
                T::of(z.f64() + sum.f64())
            };
        }
    }
}

fn added_up<T: HostScalar<Real = T> + lanes::Float>(
    cx: &Cx<'_, Host>,
    n: usize,
    sides: &mut [Sides<'_, T>],
) -> Result<()> {
    let rows = n.div_ceil(PARTS).max(LEAST);
    let count = n.div_ceil(rows);
    let size = sides.iter().map(|side| side.z.len()).sum::<usize>();
    if size == 0 {
        return Ok(());
    }
    let mut sums = filled(count * size, T::ZERO).map_err(xla_error)?;
    let shape = Matrices {
        count,
        rows: 0,
        cols: 0,
    };
    let widest = sides.iter().map(|side| side.y.1).max().unwrap_or(1);
    let cost = WORTH * cost_in_lanes(2.0 * (rows * size) as f64, rows * widest);
    let parts = sums.chunks_exact_mut(size).enumerate();
    let all = &*sides;
    for_each_run((cx, shape), cost, parts, |(part, mut sums), _| {
        let (from, to) = (part * rows, n.min((part + 1) * rows));
        let products = all.iter().map(|side| {
            let (z, rest) = std::mem::take(&mut sums).split_at_mut(side.z.len());
            sums = rest;
            side.rows(from, to, z)
        });
        let products = products.collect::<Vec<_>>();
        if Unit::best().is_some() {
            return T::in_lanes(Rows(products), 1);
        }
        products.into_iter().for_each(Product::one_by_one);
        Ok(())
    })?;
    for (part, mut sums) in sums.chunks_exact(size).enumerate() {
        for side in &mut *sides {
            let (own, rest) = sums.split_at(side.z.len());
            side.add(part, own);
            sums = rest;
        }
    }
    Ok(())
}
