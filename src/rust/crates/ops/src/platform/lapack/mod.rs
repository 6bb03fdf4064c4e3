//! The CPU's linear algebra: LAPACK, as linked by R or, for tests and the ops library, found on
//! the system.

mod precision;
mod routines;
mod stack;
mod sys;

use super::{Matrices, Memory, Solver};
use precision::Precision;
use routines::Routines;
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Error, Host, Result};

impl Memory for Host {
    fn copy(_: &Cx<'_, Host>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.copy_from(from)
    }

    fn to_host<'f>(_: &Cx<'_, Host>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        from.as_bytes().map(Cow::Borrowed)
    }
}

impl<T: Precision> Solver<T> for Host {
    fn getrf(
        _: &Cx<'_, Host>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        pivots: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let (a, pivots) = (a.as_mut_slice::<T>()?, pivots.as_mut_slice::<i32>()?);
        if a.is_empty() {
            return Ok(());
        }
        stack::with_room(|| {
            let mut scratch = Vec::new();
            let matrices = a.chunks_exact_mut(shape.elements());
            for (matrix, pivots) in matrices.zip(pivots.chunks_exact_mut(shape.rank() as usize)) {
                factor(shape, matrix, pivots, &mut scratch)?;
            }
            Ok(())
        })
    }
}

/// `P A = L U` of one matrix.
fn factor<T: Precision>(
    shape: Matrices,
    matrix: &mut [T],
    pivots: &mut [i32],
    scratch: &mut Vec<T::Work>,
) -> Result<()> {
    // The search for a pivot compares, and no comparison with NaN means anything.
    if !all_finite(matrix) {
        matrix.fill(T::NAN);
        pivots.iter_mut().zip(1..).for_each(|(p, i)| *p = i);
        return Ok(());
    }
    let info = T::in_work(matrix, scratch, |work| {
        T::Work::getrf(shape.rows, shape.cols, work, pivots)
    })?;
    // A positive `info` tells of a zero in `U`, which is as it should be.
    refuse_negative(info, "getrf")
}

/// Without an early way out, so that it vectorises: the usual matrix is finite to its end.
fn all_finite<T: Precision>(matrix: &[T]) -> bool {
    matrix.iter().fold(true, |all, v| all & v.is_finite())
}

/// A negative `info` blames an argument of ours.
fn refuse_negative(info: i32, routine: &str) -> Result<()> {
    if info >= 0 {
        return Ok(());
    }
    let at = info.unsigned_abs();
    Err(Error::internal(format!(
        "LAPACK's {routine} refused its argument {at}"
    )))
}
