//! Memory to work in.

use std::collections::TryReserveError;

use crate::number::Number;

/// As many zeros.
pub(crate) fn zeros<S: Number>(len: usize) -> Result<Vec<S>, TryReserveError> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len)?;
    zeros.resize(len, S::ZERO);
    Ok(zeros)
}

/// Two stacks of that size: neighbours in the elimination tree have different ones.
pub(crate) fn stacks<S: Number>([even, odd]: [usize; 2]) -> Result<[Vec<S>; 2], TryReserveError> {
    Ok([zeros(even)?, zeros(odd)?])
}
