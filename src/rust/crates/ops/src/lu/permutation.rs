//! Exchanges of rows as a permutation.

use xla_ffi::{
    dtype_set, io, AnyBuffer, AnyBufferMut, Arg, Cx, Error, Host, Kernel, MinRank, Op, Result, Ret,
};

io! {
    /// Row numbers from pivots.
    pub struct PermutationIo<'f, T> {
        /// `(..., k)`: row `i` was exchanged with row `pivots[i]`, counted from 1 as `lu` does
        pivots: Arg<'f, T, MinRank<1>>,
        /// `(..., m)`, `m >= k`: the rows in their new order, counted from 0
        permutation: Ret<'f, T, MinRank<1>>,
    }
}

dtype_set! {
    /// i32.
    pub Rows = i32;
}

/// How many permutations there are, and how many pivots and rows each has.
///
/// # Errors
/// The shapes do not belong together.
pub(crate) fn sizes(
    pivots: &AnyBuffer<'_>,
    permutation: &AnyBufferMut<'_>,
) -> Result<(usize, usize, usize)> {
    let (batch, count, [length]) = pivots.split_dims()?;
    let (_, _, [size]) = permutation.split_dims()?;
    let rows = i64::try_from(size).unwrap_or(i64::MAX);
    permutation.expect_batch_dims(batch, &[rows])?;
    if length > size {
        return Err(Error::mismatch(
            pivots.operand(),
            format_args!("have at most {size} pivots"),
            length,
        ));
    }
    Ok((count, length, size))
}

/// `lu_row_order`: the order of rows that the pivots of each LU factorisation of a batch
/// leave.
pub struct LuPivotsToPermutation;

impl Op for LuPivotsToPermutation {
    const TARGET: &'static str = "lu_row_order";
    type Dtypes = Rows;
}

impl Kernel<Host, i32> for LuPivotsToPermutation {
    type Io<'f> = PermutationIo<'f, i32>;

    fn run(mut io: PermutationIo<'_, i32>, _: &Cx<'_, Host>) -> Result<()> {
        let (_, length, size) = sizes(&io.pivots, &io.permutation)?;
        if io.permutation.is_empty() {
            return Ok(());
        }
        let operand = io.pivots.operand();
        let pivots = io.pivots.as_slice()?;
        let permutations = io.permutation.as_mut_slice()?;
        for (i, order) in permutations.chunks_exact_mut(size).enumerate() {
            for (row, number) in order.iter_mut().zip(0..) {
                *row = number;
            }
            for (row, &pivot) in pivots[i * length..][..length].iter().enumerate() {
                let other = usize::try_from(pivot).unwrap_or(0).wrapping_sub(1);
                if other >= size {
                    return Err(Error::mismatch(
                        operand,
                        format_args!("be row numbers from 1 to {size}"),
                        pivot,
                    ));
                }
                order.swap(row, other);
            }
        }
        Ok(())
    }
}
