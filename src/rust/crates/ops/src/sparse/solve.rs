//! Equations with a sparse factor.

use super::state::{analysis, for_each, keeps, kept};
use crate::platform::host::batch::split;
use ::sparse::{Number, System};
use xla_ffi::{
    io, Arg, Attr, Cx, Error, Floats, Host, Kernel, MinRank, Op, Operand, OperandKind, Result, Ret,
    Scalar,
};

io! {
    /// `A x = b`
    pub struct SolveIo<'f, T> {
        /// `(..., length)`: factors, as `sparse_cholesky` gives them
        factor: Arg<'f, T, MinRank<1>>,
        /// `(..., n, k)`, column-major matrices: the right-hand sides
        b: Arg<'f, T, MinRank<2>>,
        /// `(..., n, k)`, column-major matrices: the solutions
        x: Ret<'f, T>,
        /// which equation, of `P A Pᵀ = L Lᵀ`: "A" for `A x = b` (default), "L" for `L x = P b`, "Lt" for `Lᵀ P x = b`
        mode: Attr<&'f str> = "A",
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins among the entries of the lower triangle, and their number
        colptr: Attr<&'f [i32]>,
        /// the rows of the entries, counted from 0, ascending in a column
        rowind: Attr<&'f [i32]>,
    }
}

/// `sparse_solve`: solutions of equations with the Cholesky factor of a sparse matrix.
pub struct SparseSolve;

impl Op for SparseSolve {
    const TARGET: &'static str = "sparse_solve";
    type Dtypes = Floats;
}

impl<T: Scalar + Number> Kernel<Host, T> for SparseSolve {
    type Io<'f> = SolveIo<'f, T>;

    fn run(mut io: SolveIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let system = system(*io.mode)?;
        let state = kept(cx, || analysis(*io.n, &io.colptr, &io.rowind))?;
        let symbolic = &state.symbolic;
        let (batch, count, [_]) = io.factor.split_dims()?;
        let (n, len) = (symbolic.n(), symbolic.factor_len());
        io.factor.expect_batch_dims(batch, &[len as i64])?;
        let (_, _, [_, columns]) = io.b.split_dims()?;
        io.b.expect_batch_dims(batch, &[n as i64, columns as i64])?;
        io.x.expect_dims(io.b.dims())?;
        let (factors, b) = (io.factor.as_slice()?, io.b.as_slice()?);
        let size = n * columns;
        let items = split(io.x.as_mut_slice()?, size, count).enumerate();
        for_each(cx, items, |(at, x)| {
            let factor = &factors[at * len..][..len];
            symbolic.solve(factor, system, &b[at * size..][..size], x)
        })
    }
}

fn system(mode: &str) -> Result<System> {
    match mode {
        "A" => Ok(System::Whole),
        "L" => Ok(System::Lower),
        "Lt" => Ok(System::Transposed),
        other => Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, "mode"),
            "be \"A\", \"L\" or \"Lt\"",
            format_args!("\"{other}\""),
        )),
    }
}

keeps! { SymmetricSetup: SparseSolve }
